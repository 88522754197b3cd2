import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { SqliteDatabase } from '../../src/adapters/stores/sqlite/driver.js';
import { reportMissing } from '../../src/adapters/stores/sqlite/files/missing-data.js';
import { openSqliteStore } from '../../src/adapters/stores/sqlite/store.js';
import { SQLITE_WORKER as WORKER } from '../support/sqlite.js';
import { change } from '../contracts/store-fixtures.js';

let folder: string;
let path: string;
let key: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diptych-missing-'));
  path = join(folder, 'a.db');
  key = join(folder, 'secrets.key');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function missing(): Promise<readonly string[]> {
  const store = await openSqliteStore({ path, worker: WORKER, companions: [key] });
  await store.close();
  return store.missing;
}

/** A database as a kill leaves it, with sessions in its write-ahead log. */
async function killed(sessions: number): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 'live.db'), worker: WORKER });
  for (let n = 0; n < sessions; n++) await store.saveSession(change(randomUUID()));
  for (const suffix of ['', '-wal']) copyFileSync(join(folder, `live.db${suffix}`), path + suffix);
  await store.close();
}

function overwrite(at: number, bytes: Buffer): void {
  const file = openSync(`${path}-wal`, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

describe('a database', () => {
  it('that is new lacks nothing, nor does one that is opened again', async () => {
    expect(await missing()).toEqual([]);
    writeFileSync(key, 'a key');
    expect(await missing()).toEqual([]);
  });

  it.each(['there is none', 'it is empty'])('beside an older key: %s', async (state) => {
    writeFileSync(key, 'a key');
    if (state === 'it is empty') writeFileSync(path, '');
    expect(await missing()).toEqual([
      expect.stringMatching(/a\.db was empty or missing.*secrets\.key.*backup/),
    ]);
    expect(statSync(path).size).toBeGreaterThan(0);
  });

  it('that a kill has left with a log is whole', async () => {
    await killed(20);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(10_000);
    expect(await missing()).toEqual([]);
    const db = new SqliteDatabase(path);
    expect(db.prepare('SELECT count(*) FROM sessions').pluck().get()).toBe(20);
    db.close();
  });

  it.each([
    ['in its header', 20],
    ['in the middle', 32 + 2 * (24 + 4096) + 100],
  ])('whose log is damaged %s', async (_where, at) => {
    await killed(20);
    overwrite(at, Buffer.from('damage'));
    expect(await missing()).toEqual([expect.stringMatching(/write-ahead log of .*a\.db is damaged/)]);
    expect(existsSync(path)).toBe(true);
  });

  it('is whole while another process commits to it', () => {
    const writer = new SqliteDatabase(path);
    writer.pragma('journal_mode = WAL');
    writer.exec('CREATE TABLE a (b); BEGIN IMMEDIATE');
    // A commit appends its frames and syncs the log, while its lock holds, before the log's index has them.
    const log = readFileSync(`${path}-wal`);
    overwrite(log.length, log.subarray(log.length - (24 + 4096)));
    const found: string[] = [];
    const report = reportMissing(path, [], (missing) => found.push(...missing));
    const db = new SqliteDatabase(path, { timeout: 0 });
    report(db);
    expect(found).toEqual([]);
    db.close();
    writer.close();
  });

  it('whose log was cut between two transactions, as a copy may be, or ends in a torn one, is whole', async () => {
    await killed(20);
    overwrite(statSync(`${path}-wal`).size, Buffer.alloc(2000, 1));
    expect(await missing()).toEqual([]);
  });
});
