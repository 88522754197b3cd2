import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SqliteDatabase as Database } from '../../src/adapters/stores/sqlite/driver.js';
import * as postgres from '../../src/adapters/stores/postgres/migrate.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import * as sqlite from '../../src/adapters/stores/sqlite/migrate.js';
import type { EventBody } from '../../src/core/model/event.js';
import type { Store } from '../../src/core/ports/store.js';
import {
  acceptance,
  change,
  contents,
  end,
  loaded,
  NO_PRUNE,
  record,
  send,
  sendAndClaim,
  T0,
  WIDE,
} from '../contracts/store-fixtures.js';
import { inlineCall, pend, report } from '../contracts/wallet-fixtures.js';
import { withFolder } from '../support/folder.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { openTestSqlite } from '../support/sqlite.js';

const ID = randomUUID();
const RUNNING = randomUUID();
const CLAIM = { owner: 'somebody', milliseconds: 60_000 };

/** Fills a store with what a database holds: turns that ended well and not, one that runs, and a deleted session. */
async function fill(store: Store): Promise<void> {
  const first = await sendAndClaim(store, ID, { set: { wallet: '0xabc', title: 'Old' } });
  await end(store, first, { messages: [record(first, 1)] });
  const second = await sendAndClaim(store, ID, { text: 'again' });
  const words = record(second, 1, { role: 'system', content: 'It failed.' });
  await end(store, second, { outcome: 'failed', error: 'It failed.', messages: [words] });
  await store.appendEvents(ID, Array<EventBody>(70).fill({ type: 'title_changed', title: 'Old' }), T0);
  await sendAndClaim(store, RUNNING);
  const secret = { app: 'default', name: 'A', keyId: 'k', sealed: 'c2VhbGVk' };
  await store.putSecrets('c', [secret, { ...secret, name: 'B' }], WIDE, T0);
  const gone = randomUUID();
  await send(store, gone);
  await store.deleteSession(gone, T0);
}

/** What is there is as it was, and can be used as if it had always been of this version. */
async function expectUpgraded(store: Store, before: Awaited<ReturnType<typeof shown>>): Promise<void> {
  expect(await shown(store)).toEqual(before);
  expect(await store.claimFaults(ID, CLAIM, null)).toEqual({
    faults: [expect.objectContaining({ text: 'It failed.' })],
    shown: 0,
    held: null,
  });
  await store.releaseFaults(ID, CLAIM.owner);
  const third = await sendAndClaim(store, ID, { text: 'after' });
  await end(store, third, { messages: [record(third, 1, { content: 'as ever' })] });
  expect((await contents(store, ID)).slice(-2)).toEqual(['after', 'as ever']);
  const row = { day: 0, surface: 'field', endpoint: 'GET /a', keyId: null, client: 'a' } as const;
  await store.addUsage([{ ...row, requests: 1, firstAt: 1, lastAt: 1 }]);
  expect((await store.readUsage(0)).rows).toMatchObject([row]);
  await pend(store, RUNNING, {});
  expect(await store.readSystemEvents(RUNNING, 1)).toEqual([{ kind: 'InlineCall', text: inlineCall([1]) }]);
  const { turn } = await report(store, RUNNING, [1]);
  await store.saveSession(change(RUNNING, { set: { archived: true } }));
  const { session, open } = await loaded(store, RUNNING);
  expect(session).toMatchObject({ archived: true, pending: [] });
  expect(open.at(-1)).toMatchObject({ turn, messages: [{ role: 'system', origin: 'wallet' }] });
  await store.prune({ ...NO_PRUNE, eventsKept: 5, eventsSince: T0 + 1 });
  expect(await store.readEvents(ID, 0, 1)).toMatchObject({ oldestId: 66, lastId: 70 });
  expect(await store.deleteSession(ID, T0)).toBe(true);
  expect(await store.loadThread(ID)).toBe('deleted');
}

async function shown(store: Store) {
  return [
    await loaded(store, ID),
    await loaded(store, RUNNING),
    await store.listThreads('0xabc', PAGE),
    await store.loadTail(ID, 2),
    await store.secretTotals(),
    await store.acceptMessage(acceptance(ID, { ifVersion: 2, maxSessionBytes: 0 })),
  ];
}

const PAGE = { limit: 10, after: null };

const SQLITE = sqlite.readMigrations(
  new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url),
);
const POSTGRES = await postgres.readMigrations(
  new URL('../../src/adapters/stores/postgres/migrations/', import.meta.url),
);
/** The first schema that was in use. */
const FIRST_POSTGRES = 6;

/** The database is sound, and refuses words that the schema does not have. */
function expectChecks(path: string): void {
  const db = new Database(path);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const words = {
    'sessions.title_source': 'person',
    'turns.status': 'failed',
    'messages.role': 'system',
    'system_events.kind': 'InlineCall',
  };
  for (const [column, word] of Object.entries(words)) {
    const [table = '', name = ''] = column.split('.');
    const set = db.prepare(`UPDATE ${table} SET ${name} = ?`);
    expect(() => set.run('other')).toThrow(/^CHECK constraint failed/);
    expect(() => set.run(word)).not.toThrow();
  }
  expect(() => db.exec("UPDATE sqlite_schema SET sql = ''")).toThrow(/may not be modified/);
  db.close();
}

describe('a SQLite database of an earlier version', () => {
  const folderOfNewest = mkdtempSync(join(tmpdir(), 'diptych-test-'));
  const newest = join(folderOfNewest, 'newest.db');
  let before: Awaited<ReturnType<typeof shown>>;
  beforeAll(async () => {
    const store = await openTestSqlite({ path: newest });
    await fill(store);
    before = await shown(store);
    await store.close();
  });
  afterAll(() => {
    rmSync(folderOfNewest, { recursive: true });
  });

  it.each(SQLITE.slice(0, -1).map(({ number }) => number))('is upgraded from schema %i', (version) =>
    withFolder(async (folder) => {
      const old = join(folder, 'old.db');
      const db = new Database(old);
      sqlite.migrate(db, SQLITE.slice(0, version));
      db.pragma('foreign_keys = OFF');
      db.prepare('ATTACH ? AS newest').run(newest);
      const tables = db
        .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .all();
      for (const { name } of tables) {
        const columns = db
          .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
          .pluck()
          .all(name);
        const list = columns.map((column) => `"${column}"`).join(', ');
        db.exec(
          `DELETE FROM main.${name}; INSERT INTO main.${name} (${list}) SELECT ${list} FROM newest.${name}`,
        );
      }
      expect(tables.length).toBeGreaterThan(5);
      expect(db.pragma('user_version', { simple: true })).toBe(version);
      db.close();

      const upgraded = await openTestSqlite({ path: old });
      await expectUpgraded(upgraded, before);
      await upgraded.close();
      expectChecks(old);
    }),
  );
});

describeWithPostgres('a PostgreSQL database of an earlier version', () => {
  const database = testDatabase();
  const versions = POSTGRES.slice(FIRST_POSTGRES - 1, -1).map(({ number }) => number);

  let newest: string;
  let before: Awaited<ReturnType<typeof shown>>;
  beforeAll(async () => {
    newest = await database.newUrl();
    const store = await openPostgresStore({ url: newest });
    await fill(store);
    before = await shown(store);
    await store.close();
  });

  it.each(versions)('is upgraded from schema %i', async (version) => {
    const old = await database.newUrl();
    await postgres.migrate({ url: old }, POSTGRES.slice(0, version));
    const [from] = await runSql<{ name: string }>(newest, 'SELECT current_schema() AS name');
    const columns = await runSql<{ table: string; list: string }>(
      old,
      `SELECT table_name AS table, string_agg(quote_ident(column_name), ', ') AS list
       FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name <> 'schema_migrations' GROUP BY table_name`,
    );
    expect(columns.length).toBeGreaterThan(5);
    const copies = columns.map(
      ({ table, list }) =>
        `INSERT INTO ${table} (${list}) OVERRIDING SYSTEM VALUE SELECT ${list} FROM ${from?.name ?? ''}.${table};`,
    );
    // What triggers would count is among what is copied.
    await runSql(
      old,
      `BEGIN; SET LOCAL session_replication_role = replica; ${copies.join('\n')}
       SELECT setval('session_refs', 1000), setval(pg_get_serial_sequence('turns', 'ref'), 1000); COMMIT`,
    );

    const upgraded = await openPostgresStore({ url: old });
    await expectUpgraded(upgraded, before);
    await upgraded.close();
  });
});
