import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Figures } from '../figures.js';
import type { ServedNode } from '../served-node.js';
import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';

/** A service notices so long after that its file is gone; before that it must not acknowledge either. */
const NOTICE_MS = 5_000;
const PAUSE_MS = 100;

/**
 * The SQLite file, its WAL or both are unlinked, or moved away, under load. The service must refuse what it cannot
 * keep, or make good what is gone: of a lost WAL it saves the content, and begins a new one. Then it is killed. Files
 * that are still missing are put back: as they were at the moment of the loss where they were unlinked, else the moved
 * ones themselves. What was acknowledged and is missing then is lost.
 */
export const files: WeatherActor = {
  name: 'files',
  about: 'the SQLite file, its WAL or both are unlinked or moved, then put back',
  share: 2,
  misses: ({ file }) => (file === null ? 'there is no SQLite file' : null),
  async play({ site, figures, random }) {
    const { file } = site;
    if (file === null) throw new Error('there is no SQLite file');
    const victims = random.pick([[file], [`${file}-wal`], [file, `${file}-wal`]]);
    const isMoved = random.chance(0.4);
    const names = victims.map((path) => basename(path)).join(' and ');
    const after = `${names} ${isMoved ? 'moved' : 'unlinked'} and put back`;
    const aside = join(`${file}.aside`, String(figures.of('fileLosses')));
    mkdirSync(aside, { recursive: true });
    figures.count('fileLosses');
    const all = [file, `${file}-wal`];
    // The copy is what a power failure at this moment would have left: nothing is written while it is made.
    await Promise.all(site.nodes.map((node) => node.freeze()));
    site.weather.begin(null);
    for (const path of all.filter(existsSync)) copyFileSync(path, join(aside, `copy-${basename(path)}`));
    for (const path of victims.filter(existsSync)) {
      if (isMoved) renameSync(path, join(aside, `moved-${basename(path)}`));
      else rmSync(path);
    }
    for (const node of site.nodes) node.thaw();
    // The service begins a new WAL; a database file it never makes.
    const isMadeGood = (): boolean => !victims.includes(file) && existsSync(`${file}-wal`);
    await Promise.all(
      site.nodes.map((node) => watchHealth(node, { when: `with ${names} gone`, isMadeGood }, figures)),
    );
    await sleep(random.between(500, 3_000));
    await Promise.all(site.nodes.map((node) => node.kill()));
    // An old WAL over a database that has gone on would undo what came since.
    if (!isMadeGood()) {
      rmSync(`${file}-shm`, { force: true });
      for (const path of isMoved ? victims : all) {
        const kept = join(aside, `${isMoved ? 'moved' : 'copy'}-${basename(path)}`);
        rmSync(path, { force: true });
        if (existsSync(kept)) renameSync(kept, path);
      }
    }
    await site.startAll();
    site.weather.clear();
    return { since: Date.now(), after };
  },
};

/** Its health check must say that something is wrong, for as long as something is. */
async function watchHealth(
  node: ServedNode,
  { when, isMadeGood }: { readonly when: string; readonly isMadeGood: () => boolean },
  figures: Figures,
): Promise<void> {
  for (let waited = 0; waited < NOTICE_MS; waited += PAUSE_MS) {
    if (isMadeGood() || (await node.health()) === 503) return;
    await sleep(PAUSE_MS);
  }
  if (node.isRunning) figures.fault('blind', `${node.name} ${when}: health ${String(await node.health())}`);
}
