import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SqliteDatabase } from '../../../src/adapters/stores/sqlite/driver.js';
import type { Figures } from '../figures.js';
import type { ServedNode } from '../served-node.js';
import type { Site } from '../site.js';
import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';

/** A service notices so long after that its file is gone; before that it must not acknowledge either. */
const NOTICE_MS = 5_000;
const PAUSE_MS = 100;

/**
 * The SQLite file, its WAL or both are unlinked, or moved away, under load. The service must refuse what it cannot
 * keep, or make good what is gone: of a lost WAL it saves the content, and begins a new one. Then it is killed. Files
 * that are still missing are put back: as they were at the moment of the loss where they were unlinked, else the moved
 * ones themselves. What was acknowledged and is missing then is lost. At times a backup is running, or a command opens
 * the database before the service notices: a backup must be whole or fail.
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
    const backup = random.chance(0.3) ? backUp(site, join(aside, 'backup.db'), figures) : undefined;
    if (backup !== undefined) await sleep(random.between(300, 1_500));
    // The copy is what a power failure at this moment would have left: nothing is written while it is made.
    await Promise.all(site.nodes.map((node) => node.freeze()));
    site.weather.begin(null);
    for (const path of all.filter(existsSync)) copyFileSync(path, join(aside, `copy-${basename(path)}`));
    for (const path of victims.filter(existsSync)) {
      if (isMoved) renameSync(path, join(aside, `moved-${basename(path)}`));
      else rmSync(path);
    }
    if (random.chance(0.3)) await openBeside(site, `${file}-wal`);
    for (const node of site.nodes) node.thaw();
    // The service begins a new WAL; a database file it never makes.
    const isMadeGood = (): boolean => !victims.includes(file) && existsSync(`${file}-wal`);
    await Promise.all(
      site.nodes.map((node) => watchHealth(node, { when: `with ${names} gone`, isMadeGood }, figures)),
    );
    await sleep(random.between(500, 3_000));
    await Promise.all(site.nodes.map((node) => node.kill()));
    await backup;
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

/** Lets a command open the database while the frozen nodes cannot notice the loss. It may fail, and changes nothing. */
async function openBeside(site: Site, log: string): Promise<void> {
  await site.deleteByCli(randomUUID());
  // The empty log that it leaves must not look like the new one of a service.
  if (statSync(log, { throwIfNoEntry: false })?.size === 0) rmSync(log);
}

/** Backs the database up, by the command line. What is reported as complete must be whole. */
async function backUp(site: Site, copy: string, figures: Figures): Promise<void> {
  if (!(await site.command('backup', copy))) return;
  const db = new SqliteDatabase(copy, { readonly: true });
  const found: unknown = db.pragma('integrity_check', { simple: true });
  db.close();
  if (found !== 'ok') figures.fault('unexpected', `a backup during the loss of files: ${String(found)}`);
}

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
