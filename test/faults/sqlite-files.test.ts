import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MAIN, Place, type Running } from '../cli/running.js';
import { describeWhere } from '../support/describe-where.js';

// Each test starts the real service twice.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

/** A service, and the messages that it has confirmed, by session. */
class Talk {
  readonly confirmed = new Map<string, string>();

  constructor(private readonly url: string) {}

  /** Sends a message in a session of its own, and returns the status of the response. */
  async send(): Promise<number> {
    const sessionId = randomUUID();
    const text = `message of ${sessionId}`;
    const response = await fetch(`${this.url}/api/chat?message=${encodeURIComponent(text)}`, {
      method: 'POST',
      headers: { 'X-Session-Id': sessionId },
    });
    await response.arrayBuffer();
    if (response.status === 200) this.confirmed.set(sessionId, text);
    return response.status;
  }

  /** Sends messages one after another until one gets this status. All others must get `other`. */
  async sendUntil(status: number, other: number): Promise<void> {
    for (let got = await this.send(); got !== status; got = await this.send()) expect(got).toBe(other);
  }

  async health(): Promise<number> {
    const response = await fetch(`${this.url}/api/health`);
    await response.arrayBuffer();
    return response.status;
  }
}

async function talk(): Promise<{ running: Running; service: Talk }> {
  const { running, url } = await place.serve();
  const service = new Talk(url);
  for (let n = 0; n < 5; n += 1) expect(await service.send()).toBe(200);
  return { running, service };
}

async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** The sessions whose confirmed message a service at this database does not have. */
async function missingAt(url: string, confirmed: ReadonlyMap<string, string>): Promise<string[]> {
  const missing: string[] = [];
  for (const [sessionId, text] of confirmed) {
    const response = await fetch(`${url}/api/sessions/${sessionId}/messages`);
    if (!(await response.text()).includes(text)) missing.push(sessionId);
  }
  return missing;
}

async function missingAfterRestart(confirmed: ReadonlyMap<string, string>): Promise<string[]> {
  const { running, url } = await place.serve();
  const missing = await missingAt(url, confirmed);
  await kill(running);
  return missing;
}

const SUFFIXES = ['', '-wal', '-shm'];

describe('a service whose SQLite files are removed or moved', () => {
  it.each(['-wal', '-shm'])(
    'loses no confirmed message when the %s file is removed, and goes on',
    async (suffix) => {
      const { running, service } = await talk();
      rmSync(place.database + suffix);
      await service.sendUntil(503, 200);
      await running.says('the database was opened again');
      await service.sendUntil(200, 503);
      expect(await service.send()).toBe(200);
      await kill(running);
      expect(service.confirmed.size).toBeGreaterThan(6);
      expect(await missingAfterRestart(service.confirmed)).toEqual([]);
    },
  );

  it('saves what a removed log held although nobody writes', async () => {
    const { running, service } = await talk();
    rmSync(`${place.database}-wal`);
    await running.says('the database was opened again');
    await kill(running);
    expect(await missingAfterRestart(service.confirmed)).toEqual([]);
  });

  it.each([
    ['the database file', () => [[place.database, `${place.database}.away`]] as const],
    [
      'the database with its log',
      () => {
        const away = join(place.directory, 'away');
        mkdirSync(away);
        return SUFFIXES.map((suffix) => [place.database + suffix, join(away, `d${suffix}`)] as const);
      },
    ],
    ['the folder', () => [[dirname(place.database), join(place.directory, 'away')]] as const],
  ])('refuses messages while %s is moved away, and goes on when it is back', async (_name, moves) => {
    const { running, service } = await talk();
    const pairs = moves();
    for (const [from, to] of pairs) renameSync(from, to);
    expect(await service.send()).toBe(503);
    expect(await service.send()).toBe(503);
    for (const [from, to] of pairs) renameSync(to, from);
    expect(await service.send()).toBe(200);
    // Killed while they are away, too.
    for (const [from, to] of pairs) renameSync(from, to);
    expect(await service.send()).toBe(503);
    await kill(running);
    for (const [from, to] of pairs) renameSync(to, from);
    expect(service.confirmed.size).toBe(6);
    expect(await missingAfterRestart(service.confirmed)).toEqual([]);
  });

  it('refuses messages once another file is in the place of the database', async () => {
    const { running, service } = await talk();
    const other = join(place.directory, 'other');
    writeFileSync(other, '');
    renameSync(other, place.database);
    expect(await service.send()).toBe(503);
    expect(await service.health()).toBe(503);
    expect((await running.says(/"msg":"store unavailable"/)).input).toContain('another file is at');
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('refuses messages once the database is removed, and still holds all of it', async () => {
    const { running, service } = await talk();
    for (const suffix of SUFFIXES) rmSync(place.database + suffix);
    expect(await service.send()).toBe(503);
    expect(await service.health()).toBe(503);
    const before = new Map(service.confirmed);
    // As docs/runbook.md says.
    const descriptors = `/proc/${String(running.child.pid)}/fd`;
    const saved = join(place.directory, 'saved.db');
    for (const name of readdirSync(descriptors)) {
      const [, suffix] = /diptych\.db(|-wal) \(deleted\)$/.exec(readlinkSync(join(descriptors, name))) ?? [];
      if (suffix !== undefined) copyFileSync(join(descriptors, name), saved + suffix);
    }
    await kill(running);
    const restored = await place.serve({ DATABASE_URL: `sqlite:${saved}` });
    expect(await missingAt(restored.url, before)).toEqual([]);
  });
});

/** Another user, if this process may start one; otherwise it closes the files to itself. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const reading = spawnSync(process.execPath, ['-e', `require('fs').accessSync('${MAIN}')`], OTHER);

describeWhere(reading.status === 0 ? null : 'skipped: other users may not read this checkout')(
  'a service that may not open its database',
  () => {
    it.each(['the file', 'the log', 'the folder'])('names the owner of %s, and its own user', (which) => {
      const folder = dirname(place.database);
      mkdirSync(folder);
      chmodSync(place.directory, 0o755);
      chmodSync(folder, 0o777);
      const paths = { 'the file': place.database, 'the log': `${place.database}-wal`, 'the folder': folder };
      const closed = Object.entries(paths).find(([name]) => name === which)?.[1] ?? '';
      if (which !== 'the folder') {
        for (const file of [place.database, closed]) writeFileSync(file, '');
        chmodSync(place.database, 0o666);
      }
      chmodSync(closed, which === 'the folder' ? 0o555 : OTHER.uid === undefined ? 0 : 0o600);
      const { mode, uid, gid } = statSync(closed);
      const { status, stderr } = startAsOther();
      expect(status).toBe(1);
      expect(stderr).toContain(`cannot open ${place.database}: `);
      const own = `uid ${String(OTHER.uid ?? uid)} and gid ${String(OTHER.gid ?? process.getgid?.())}`;
      expect(stderr).toContain(
        `: ${closed} belongs to uid ${String(uid)} and gid ${String(gid)} with mode ${(mode & 0o777).toString(8)}, ` +
          `and this process has ${own}\n`,
      );
    });

    it('does not start if it may read the file, but not write it', async () => {
      const { running } = await place.serve();
      running.child.kill('SIGTERM');
      expect(await running.ended).toBe(0);
      rmSync(join(dirname(place.database), 'secrets.key'));
      chmodSync(place.directory, 0o755);
      chmodSync(dirname(place.database), 0o777);
      chmodSync(place.database, OTHER.uid === undefined ? 0o400 : 0o644);
      const { status, stderr } = startAsOther();
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /cannot open .*diptych\.db: EACCES: permission denied.*: .*diptych\.db belongs to uid /,
      );
    });

    function startAsOther() {
      return spawnSync(process.execPath, [MAIN], {
        ...OTHER,
        cwd: place.directory,
        env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${place.database}` },
        encoding: 'utf8',
        timeout: 30_000,
      });
    }
  },
);
