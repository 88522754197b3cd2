import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { backupDatabase } from '../../src/adapters/stores/sqlite/backup.js';
import { SqliteDatabase as Database } from '../../src/adapters/stores/sqlite/driver.js';
import { migrate, readMigrations } from '../../src/adapters/stores/sqlite/migrate.js';
import { prepareFile } from '../../src/adapters/stores/sqlite/files/private-files.js';
import { StoreUnavailableError } from '../../src/core/ports/store.js';
import { change, loaded, send, T0 } from '../contracts/store-fixtures.js';
import { withFolder } from '../support/folder.js';
import { openTestSqlite } from '../support/sqlite.js';

const MIGRATIONS = new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url);

function schemaOf(file: string) {
  const db = new Database(file, { readonly: true });
  try {
    return {
      version: db.pragma('user_version', { simple: true }),
      tables: db.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").pluck().get(),
    };
  } finally {
    db.close();
  }
}

describe('opening a SQLite store', () => {
  it('makes the file with its folder, and finds everything again', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'deep', 'er', 'a.db');
      const id = randomUUID();
      const first = await openTestSqlite({ path });
      await send(first, id, { text: 'kept' });
      const before = await loaded(first, id);
      await first.close();
      expect(readdirSync(join(folder, 'deep', 'er'))).toEqual(['a.db']);

      const schema = schemaOf(path);
      expect(schema.version).toBe(readMigrations(MIGRATIONS).length);
      const again = await openTestSqlite({ path });
      expect(await loaded(again, id)).toEqual(before);
      await again.close();
      expect(schemaOf(path)).toEqual(schema);
    }));

  it('removes a temporary database when it is closed', async () => {
    const folders = () => readdirSync(tmpdir()).filter((name) => /^diptych-[^-]+$/.test(name));
    const before = new Set(folders());
    const store = await openTestSqlite();
    const made = folders().filter((name) => !before.has(name));
    expect(made.some((name) => existsSync(join(tmpdir(), name, 'diptych.db')))).toBe(true);
    await store.saveSession(change(randomUUID()));
    await store.close();
    await store.close();
    expect(made.filter((name) => existsSync(join(tmpdir(), name, 'diptych.db')))).toEqual([]);
  });

  it('refuses a database that a newer version wrote, and leaves it as it is', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'newer.db');
      const db = new Database(path);
      db.pragma('user_version = 999');
      db.close();
      await expect(openTestSqlite({ path })).rejects.toThrow(/newer version .* schema is 999/);
      expect(schemaOf(path)).toEqual({ version: 999, tables: 0 });
    }));

  it('says what is wrong with a file that is no database', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'broken.db');
      writeFileSync(path, 'this is not a database. '.repeat(1000));
      const opening = openTestSqlite({ path });
      await expect(opening).rejects.toThrow(StoreUnavailableError);
      await expect(opening).rejects.toThrow(/file is not a database/);
      await expect(opening).rejects.toThrow(path);
      expect(readFileSync(path, 'utf8')).toMatch(/^this is not/);
    }));

  it('fails reads of a damaged file with StoreUnavailableError', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'damaged.db');
      const ids = Array.from({ length: 100 }, () => randomUUID());
      const store = await openTestSqlite({ path });
      for (const id of ids) await send(store, id, { text: 'x'.repeat(2000) });
      await store.close();
      const bytes = readFileSync(path);
      bytes.fill(0xa5, bytes.length / 2);
      writeFileSync(path, bytes);

      const damaged = await openTestSqlite({ path });
      const reads = await Promise.allSettled(ids.map((id) => damaged.loadThread(id)));
      const reasons = reads.flatMap((read): unknown[] => (read.status === 'rejected' ? [read.reason] : []));
      expect(reasons.length).toBeGreaterThan(0);
      for (const reason of reasons) expect(reason).toBeInstanceOf(StoreUnavailableError);
      await damaged.close();
    }));

  it('fails when the folder cannot be made', () =>
    withFolder(async (folder) => {
      writeFileSync(join(folder, 'file'), '');
      const opening = openTestSqlite({ path: join(folder, 'file', 'a.db') });
      await expect(opening).rejects.toThrow(StoreUnavailableError);
    }));

  it('refuses a folder in place of the file, and leaves its mode as it is', () =>
    withFolder(async (folder) => {
      chmodSync(folder, 0o755);
      const opening = openTestSqlite({ path: folder });
      await expect(opening).rejects.toThrow(StoreUnavailableError);
      await expect(opening).rejects.toThrow(`cannot open ${folder}: it is not a regular file`);
      expect(statSync(folder).mode & 0o777).toBe(0o755);
    }));

  it('can be opened by several at once, also for the first time', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const stores = await Promise.all([1, 2, 3].map(() => openTestSqlite({ path })));
      const id = randomUUID();
      await stores[0]?.saveSession(change(id));
      expect(await stores[1]?.revisionOf(id)).toBe(1);
      expect(await stores[2]?.saveSession(change(id, { set: { title: 'x' }, at: T0 }))).toMatchObject({
        session: { revision: 2 },
      });
      await Promise.all(stores.map((store) => store.close()));
    }));
});

describe('the modes of SQLite files', () => {
  const modesIn = (folder: string) =>
    Object.fromEntries(
      readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
    );

  /** Runs with the usual umask of a login shell, by which new files can be read by everybody. */
  async function withUsualUmask(run: () => Promise<void>): Promise<void> {
    const before = process.umask(0o022);
    try {
      await run();
    } finally {
      process.umask(before);
    }
  }

  it('are 0600 in the folder of any owner, for the database, its log, a backup and its parts', () =>
    withFolder((folder) =>
      withUsualUmask(async () => {
        chmodSync(folder, 0o755);
        const store = await openTestSqlite({ path: join(folder, 'a.db') });
        await send(store, randomUUID());
        expect(modesIn(folder)).toMatchObject({ 'a.db': '600', 'a.db-wal': '600', 'a.db-shm': '600' });
        const during: Record<string, string>[] = [];
        await backupDatabase(join(folder, 'a.db'), join(folder, 'copy.db'), {
          onProgress: () => {
            during.push(modesIn(folder));
          },
        });
        expect(Object.keys(during[0] ?? {})).toContainEqual(expect.stringMatching(/^copy\.db\.part-/));
        during.push(modesIn(folder));
        for (const modes of during) expect(new Set(Object.values(modes))).toEqual(new Set(['600']));
        await store.close();
      }),
    ));

  it('are 0600 from the first byte', () =>
    withFolder((folder) =>
      withUsualUmask(() => {
        const path = join(folder, 'a.db');
        prepareFile(path, { creates: true });
        expect(modesIn(folder)).toEqual({ 'a.db': '600' });
        expect(statSync(path).size).toBe(0);
        return Promise.resolve();
      }),
    ));

  it('stay as they are where the file is not a database', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      writeFileSync(path, 'root:x:0:0:root:/root:/bin/sh\n'.repeat(100), { mode: 0o644 });
      chmodSync(path, 0o644);
      await expect(openTestSqlite({ path })).rejects.toThrow('SQLITE_NOTADB');
      await expect(backupDatabase(path, join(folder, 'copy.db'))).rejects.toThrow('SQLITE_NOTADB');
      expect(modesIn(folder)).toEqual({ 'a.db': '644' });
    }));

  it('stay as they are where the database is one of another program, as its content does', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const other = new Database(path);
      // The service changes a database to WAL before it looks into it.
      other.exec('PRAGMA journal_mode = WAL; CREATE TABLE other (x)');
      other.close();
      chmodSync(path, 0o644);
      const before = readFileSync(path);
      await expect(openTestSqlite({ path })).rejects.toThrow('a database of another program');
      await expect(backupDatabase(path, join(folder, 'copy.db'))).rejects.toThrow('another program');
      expect(readFileSync(path)).toEqual(before);
      expect(modesIn(folder)).toEqual({ 'a.db': '644' });
    }));

  it('become 0600 where an earlier version left them open to others', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await (await openTestSqlite({ path })).close();
      const left = new Database(path);
      left.exec('CREATE TABLE other (x)');
      for (const suffix of ['', '-wal', '-shm']) chmodSync(path + suffix, 0o644);
      const store = await openTestSqlite({ path });
      expect(modesIn(folder)).toEqual({ 'a.db': '600', 'a.db-wal': '600', 'a.db-shm': '600' });
      await store.close();
      left.close();
    }));
});

describe('migrations', () => {
  it('are applied once, in order, and only those that are missing', () =>
    withFolder((folder) => {
      const steps = [
        { number: 1, sql: 'CREATE TABLE a (x); INSERT INTO a VALUES (1)' },
        { number: 2, sql: 'ALTER TABLE a ADD COLUMN y; INSERT INTO a VALUES (2, 2)' },
      ];
      const db = new Database(join(folder, 'a.db'));
      migrate(db, steps.slice(0, 1));
      migrate(db, steps);
      migrate(db, steps);
      expect(db.prepare('SELECT x, y FROM a').raw().all()).toEqual([
        [1, null],
        [2, 2],
      ]);
      db.close();
      return Promise.resolve();
    }));

  it('leave nothing of one that fails', () =>
    withFolder((folder) => {
      const db = new Database(join(folder, 'a.db'));
      const broken = [{ number: 1, sql: 'CREATE TABLE a (x); CREATE TABLE a (x)' }];
      expect(() => {
        migrate(db, broken);
      }).toThrow(/already exists/);
      expect(db.pragma('user_version', { simple: true })).toBe(0);
      expect(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(0);
      db.close();
      return Promise.resolve();
    }));

  it('must be numbered without a gap', () =>
    withFolder((folder) => {
      mkdirSync(join(folder, 'm'));
      writeFileSync(join(folder, 'm', '0001-a.sql'), '');
      writeFileSync(join(folder, 'm', '0003-b.sql'), '');
      expect(() => readMigrations(pathToFileURL(join(folder, 'm/')))).toThrow(/0003-b.sql is out of order/);
      return Promise.resolve();
    }));
});
