import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { backupDatabase } from '../../src/adapters/stores/sqlite/backup.js';
import { SqliteDatabase as Database } from '../../src/adapters/stores/sqlite/driver.js';
import type { Outcome } from '../../src/adapters/stores/sqlite/writer/batch.js';
import { requireFreeSpace } from '../../src/adapters/stores/sqlite/files/free-space.js';
import { GuardedBatch } from '../../src/adapters/stores/sqlite/writer/guarded-batch.js';
import type { FilesState } from '../../src/adapters/stores/sqlite/files/open-files.js';
import type { Call } from '../../src/adapters/stores/sqlite/steps.js';
import { StoreUnavailableError, type Store } from '../../src/core/ports/store.js';
import { acceptance, change, contents, send } from '../contracts/store-fixtures.js';
import { withFolder } from '../support/folder.js';
import { openTestSqlite, SQLITE_WORKER } from '../support/sqlite.js';

/** A writing thread with something added before it. */
function workerWith(folder: string, lines: string): URL {
  const file = join(folder, 'worker.mjs');
  const imports = `import { parentPort } from 'node:worker_threads';\nimport { appendFileSync, readFileSync } from 'node:fs';\n`;
  writeFileSync(file, `${imports}${lines}\nawait import(${JSON.stringify(SQLITE_WORKER.href)});\n`);
  return pathToFileURL(file);
}

/** Counts the messages in a database that no process has open. */
function countMessages(path: string): unknown {
  const db = new Database(path);
  try {
    return db.prepare('SELECT count(*) FROM messages').pluck().get();
  } finally {
    db.close();
  }
}

/** Waits until the store takes writes again. */
async function recovered(store: Store): Promise<void> {
  for (;;) {
    try {
      await store.check();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      await delay(10);
    }
  }
}

/** Waits until the store refuses for this reason. Each refusal before must be that it is unavailable. */
async function refusedWith(store: Store, words: string): Promise<void> {
  let refusal = '';
  while (!refusal.includes(words)) {
    const error: unknown = await store.check().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    refusal = error instanceof Error ? String(error.cause) : '';
    await delay(10);
  }
}

describe('faults of the SQLite store', () => {
  it('lets a bad write fail alone among those of its batch', async () => {
    const store = await openTestSqlite();
    const used = await send(store, randomUUID());
    const asked = Array.from({ length: 9 }, (_, n) =>
      acceptance(randomUUID(), n === 4 ? { turnId: used.turn.id } : {}),
    );
    const outcomes = await Promise.allSettled(asked.map((one) => store.acceptMessage(one)));
    expect(outcomes.map(({ status }) => status === 'rejected')).toEqual(asked.map((_, n) => n === 4));
    for (const [n, { sessionId }] of asked.entries()) {
      expect(await store.revisionOf(sessionId)).toBe(n === 4 ? 'unknown' : 1);
    }
    const bad = outcomes[4]?.status === 'rejected' ? String(outcomes[4].reason) : '';
    expect(bad).toMatch(/UNIQUE constraint failed: turns.id/);
    await store.close();
  });

  it('is unavailable while another has the database locked, and works again after', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path, busyTimeoutMs: 60 });
      const id = randomUUID();
      await send(store, id);
      const other = new Database(path);
      other.exec('BEGIN EXCLUSIVE');
      const writes = await Promise.allSettled([
        store.saveSession(change(id, { set: { title: 'no' } })),
        store.check(),
        store.acceptMessage(acceptance(randomUUID())),
      ]);
      for (const write of writes) {
        const reason: unknown = write.status === 'rejected' ? write.reason : undefined;
        expect(reason).toBeInstanceOf(StoreUnavailableError);
      }
      expect(await contents(store, id)).toEqual(['hello']);
      other.exec('ROLLBACK');
      other.close();
      await store.check();
      expect(await store.saveSession(change(id, { set: { title: 'yes' } }))).toMatchObject({
        session: { title: 'yes', revision: 2 },
      });
      await store.close();
    }));

  it('refuses writes while its file is moved or replaced, and continues when the file is back', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const id = randomUUID();
      await send(store, id);
      await store.check();
      renameSync(path, `${path}.moved`);
      await expect(send(store, id)).rejects.toThrow(StoreUnavailableError);
      await expect(store.check()).rejects.toThrow(/is gone: put it back; do not stop the process/);
      writeFileSync(path, 'another');
      await expect(send(store, id)).rejects.toThrow(StoreUnavailableError);
      await expect(store.check()).rejects.toThrow(/another file is at .*; do not stop the process/);
      expect(await contents(store, id)).toEqual(['hello']);
      renameSync(`${path}.moved`, path);
      await store.check();
      await send(store, id, { text: 'back' });
      expect(await contents(store, id)).toEqual(['hello', 'back']);
      await store.close();
    }));

  it.each(['-wal', '-shm'])('saves what a removed %s file held, and opens the database again', (suffix) =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      // The log is beside the file that a link leads to.
      const link = join(folder, 'link.db');
      const store = await openTestSqlite({ path });
      await store.close();
      symlinkSync(path, link);
      const linked = await openTestSqlite({ path: link });
      const id = randomUUID();
      await send(linked, id, { text: 'before' });
      rmSync(path + suffix);
      await expect(send(linked, id, { text: 'lost?' })).rejects.toThrow(StoreUnavailableError);
      await recovered(linked);
      await send(linked, id, { text: 'after' });
      expect(await contents(linked, id)).toEqual(['before', 'after']);
      await linked.close();
    }),
  );

  it('saves what a removed log held after another process opened the database and wrote nothing', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const id = randomUUID();
      await send(store, id, { text: 'before' });
      rmSync(`${path}-wal`);
      // What opening the database does first.
      writeFileSync(`${path}-wal`, '');
      await expect(send(store, id, { text: 'lost?' })).rejects.toThrow(/wal was removed while/);
      copyFileSync(path, join(folder, 'b.db'));
      expect(countMessages(join(folder, 'b.db'))).toBe(1);
      await recovered(store);
      expect(await contents(store, id)).toEqual(['before']);
      await store.close();
    }));

  it('refuses writes while another connection reads the removed log, and keeps all later ones', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path, busyTimeoutMs: 20 });
      const id = randomUUID();
      await send(store, id, { text: 'before' });
      const backup = new Database(path, { readonly: true });
      backup.exec('BEGIN');
      backup.prepare('SELECT count(*) FROM messages').get();
      rmSync(`${path}-wal`);
      await expect(send(store, id)).rejects.toThrow(StoreUnavailableError);
      await refusedWith(store, 'still reads the removed write-ahead log');
      backup.close();
      await recovered(store);
      await send(store, id, { text: 'after' });
      // What a power failure would leave now.
      copyFileSync(path, join(folder, 'b.db'));
      copyFileSync(`${path}-wal`, join(folder, 'b.db-wal'));
      expect(countMessages(join(folder, 'b.db'))).toBe(2);
      await store.close();
    }));

  it('is not damaged when another process begins a new log before the removal is noticed', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const id = randomUUID();
      for (let n = 0; n < 20; n++) await send(store, id, { text: String(n) });
      const other = new Database(path);
      other.pragma('wal_checkpoint(PASSIVE)');
      other.close();
      rmSync(`${path}-wal`);
      // Not our program, which would refuse.
      const stranger = new Database(path);
      stranger.pragma('wal_checkpoint(TRUNCATE)');
      stranger.exec('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)');
      stranger.close();
      const write = store.saveSession(change(id, { set: { title: 'no' } }));
      await expect(write).rejects.toThrow(/wal was replaced while/);
      await recovered(store);
      await send(store, id, { text: 'after' });
      expect((await contents(store, id)).slice(-2)).toEqual(['19', 'after']);
      await store.close();
      const db = new Database(path);
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(db.prepare('SELECT count(*) FROM notes').pluck().get()).toBe(1);
      db.close();
    }));

  it('refuses to open beside a process that has not noticed that its log was removed', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await (await openTestSqlite({ path })).close();
      const user = new Database(path);
      user.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)');
      user.pragma('wal_checkpoint(PASSIVE)');
      rmSync(`${path}-wal`);
      await expect(openTestSqlite({ path })).rejects.toThrow(/log was removed while/);
      user.close();
      const store = await openTestSqlite({ path });
      await store.close();
    }));

  it('is not backed up across the loss of its log', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      await send(store, randomUUID(), { text: 'x'.repeat(3_000_000) });
      const copy = join(folder, 'copy.db');
      const backup = backupDatabase(path, copy, {
        onProgress: () => {
          rmSync(`${path}-shm`, { force: true });
        },
      });
      await expect(backup).rejects.toThrow(/cannot complete the backup: .*shm was removed/);
      expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
      await store.close();
    }));

  it('creates nothing when it is asked not to', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'none', 'a.db');
      await expect(openTestSqlite({ path, creates: false })).rejects.toThrow(StoreUnavailableError);
      mkdirSync(join(folder, 'none'));
      await expect(openTestSqlite({ path, creates: false })).rejects.toThrow(/ENOENT/);
      expect(readdirSync(join(folder, 'none'))).toEqual([]);
    }));

  it('creates no database when its writer thread restarts and the file is gone', () =>
    withFolder(async (folder) => {
      const worker = workerWith(
        folder,
        `const on = parentPort.on.bind(parentPort);
         parentPort.on = (name, listener) => on(name, (message) => {
           if (JSON.stringify(message).includes('poison')) process.exit(3);
           listener(message);
         });`,
      );
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path, worker });
      const id = randomUUID();
      await send(store, id);
      renameSync(path, `${path}.moved`);
      const poison = store.saveSession(change(id, { set: { title: 'poison' } }));
      await expect(poison).rejects.toThrow(StoreUnavailableError);
      await refusedWith(store, 'no longer exists');
      expect(existsSync(path)).toBe(false);
      renameSync(`${path}.moved`, path);
      await recovered(store);
      expect(await contents(store, id)).toEqual(['hello']);
      await store.close();
    }));

  it('confirms no commit into a file that was removed while it was written', () => {
    const moved: FilesState = { kind: 'moved', message: 'the file is gone' };
    const states: FilesState[] = [{ kind: 'in_place' }, moved];
    const db = new Database(':memory:');
    let ran = 0;
    const batch = new GuardedBatch({
      db,
      files: { check: () => states.shift() ?? moved },
      runBatch: (calls): Outcome[] => {
        ran += 1;
        return calls.map(() => ({ value: undefined }));
      },
      openOther: () => db,
      onLogLost: () => {
        throw new Error('the log is in place');
      },
    });
    const calls: Call[] = [{ name: 'probe', args: [0] }];
    const gone = [{ failure: expect.objectContaining({ kind: 'unavailable', message: 'the file is gone' }) }];
    expect(batch.run(calls)).toEqual(gone);
    expect(ran).toBe(1);
    // And none is begun after that.
    expect(batch.run(calls)).toEqual(gone);
    expect(ran).toBe(1);
    db.close();
  });

  it('does not answer when the disk is full', async () => {
    const freeBytes = (found: string) => Promise.resolve(found === '/data' ? 1_048_575 : Infinity);
    await expect(requireFreeSpace('/data/a.db', freeBytes)).rejects.toThrow('is full');
    await requireFreeSpace('/elsewhere/a.db', freeBytes);
  });

  it('looks at the disk of the file that a link names', () =>
    withFolder(async (folder) => {
      mkdirSync(join(folder, 'disk'));
      writeFileSync(join(folder, 'disk', 'a.db'), '');
      symlinkSync(join(folder, 'disk', 'a.db'), join(folder, 'link.db'));
      const looked: string[] = [];
      await requireFreeSpace(join(folder, 'link.db'), (found) =>
        Promise.resolve(looked.push(found) * 2 ** 30),
      );
      expect(looked).toEqual([realpathSync(join(folder, 'disk'))]);
    }));

  it('stores all of a write or nothing when the disk is full, and works again when there is room', async () => {
    const store = await openTestSqlite({ maxPages: 80 });
    const taken: string[] = [];
    let refused: string[] = [];
    while (refused.length === 0) {
      const asked = Array.from({ length: 5 }, () => acceptance(randomUUID(), { text: 'x'.repeat(9000) }));
      const outcomes = await Promise.allSettled(asked.map((one) => store.acceptMessage(one)));
      refused = asked.filter((_, n) => outcomes[n]?.status === 'rejected').map(({ sessionId }) => sessionId);
      taken.push(...asked.map(({ sessionId }) => sessionId).filter((id) => !refused.includes(id)));
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailableError);
      }
    }
    expect(taken.length).toBeGreaterThan(0);
    for (const id of refused) expect(await store.loadThread(id)).toBe('unknown');
    for (const id of taken) expect(await contents(store, id)).toHaveLength(1);

    for (const id of taken) await store.deleteSession(id, 0);
    const [again] = refused;
    expect(await send(store, again ?? '')).toMatchObject({ created: true });
    await store.close();
  });

  it('fails what a dying writing thread had been given, and starts another', () =>
    withFolder(async (folder) => {
      const worker = workerWith(
        folder,
        `const on = parentPort.on.bind(parentPort);
         parentPort.on = (name, listener) => on(name, (message) => {
           if (JSON.stringify(message).includes('poison')) process.exit(3);
           listener(message);
         });`,
      );
      const store = await openTestSqlite({ worker });
      const id = randomUUID();
      await send(store, id);
      const outcomes = await Promise.allSettled([
        store.saveSession(change(id, { set: { title: 'fine' } })),
        store.saveSession(change(id, { set: { title: 'poison' } })),
      ]);
      for (const outcome of outcomes) {
        const reason: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
        expect(reason).toBeInstanceOf(StoreUnavailableError);
      }
      await expect(store.check()).rejects.toThrow(StoreUnavailableError);
      expect(await contents(store, id)).toEqual(['hello']);
      await recovered(store);
      expect(await send(store, id)).toMatchObject({ turn: { no: 2 }, session: { title: 'New Chat' } });
      await store.close();
    }));

  it('restarts a thread that keeps dying with a growing delay, and can be closed between two starts', () =>
    withFolder(async (folder) => {
      const starts = join(folder, 'starts');
      writeFileSync(starts, '');
      const file = JSON.stringify(starts);
      const worker = workerWith(
        folder,
        `appendFileSync(${file}, Date.now() + '\\n');
         if (readFileSync(${file}, 'utf8').split('\\n').length > 2) process.exit(3);
         parentPort.on('message', () => { process.exit(3); });`,
      );
      const times = () => readFileSync(starts, 'utf8').split('\n').filter(Boolean).map(Number);
      const store = await openTestSqlite({ worker });
      await expect(store.check()).rejects.toThrow(StoreUnavailableError);
      while (times().length < 4) {
        // Asking does not make it start sooner.
        await expect(store.check()).rejects.toThrow(StoreUnavailableError);
        await delay(5);
      }
      const [, second = 0, third = 0, fourth = 0] = times();
      expect(third - second).toBeGreaterThanOrEqual(95);
      expect(fourth - third).toBeGreaterThanOrEqual(195);
      await store.close();
    }));

  it('stores what was asked before it was closed', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const ids = Array.from({ length: 700 }, () => randomUUID());
      const writes = Promise.all(ids.map((id) => store.saveSession(change(id))));
      const closing = store.close();
      expect(await writes).toHaveLength(ids.length);
      await closing;
      const again = await openTestSqlite({ path });
      expect((await again.heads(ids)).size).toBe(ids.length);
      await again.close();
    }));
});
