import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openPostgresTransfer } from '../../src/adapters/stores/postgres/transfer.js';
import { SqliteDatabase } from '../../src/adapters/stores/sqlite/driver.js';
import { LEASE_MS } from '../../src/core/model/settings.js';
import { TRANSFER_TABLES } from '../../src/core/ports/transfer-tables.js';
import { sendAndClaim } from '../contracts/store-fixtures.js';
import { fillStore, SESSIONS } from '../support/full-store.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { openTestSqlite } from '../support/sqlite.js';
import { CLI, Place, UNREAD } from './running.js';

const SESSION = '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a1001';
const CLIENT = 'a-client-of-this-test';

// Each test starts processes.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

async function fill(): Promise<void> {
  const store = await openTestSqlite({ path: place.database });
  await fillStore(store);
  await store.close();
}

/** What `--json` printed. */
function parsed(out: string): { complete: unknown; tables: Record<string, unknown>[] } {
  const report: unknown = JSON.parse(out);
  if (typeof report !== 'object' || report === null || !('complete' in report && 'tables' in report)) {
    throw new Error(`no report: ${out}`);
  }
  const { complete, tables } = report;
  const isRow = (row: unknown): row is Record<string, unknown> => typeof row === 'object' && row !== null;
  return { complete, tables: Array.isArray(tables) ? tables.filter(isRow) : [] };
}

/** What a client that comes back asks for, with what it keeps between its requests. */
async function ask(url: string) {
  const headers = { 'X-Session-Id': SESSION };
  const state = await fetch(`${url}/api/state`, { headers });
  const records = await fetch(`${url}/api/sessions/${SESSION}/messages`);
  const events = await fetch(`${url}/api/events?count=100`, { headers });
  const names = await fetch(`${url}/api/secrets?client_id=${CLIENT}`);
  return {
    etag: state.headers.get('ETag'),
    cursor: state.headers.get('X-Event-Cursor'),
    state: await state.json(),
    records: await records.json(),
    events: await events.json(),
    names: await names.json(),
  };
}

async function stop(running: { child: { kill(signal: 'SIGTERM'): boolean }; ended: Promise<unknown> }) {
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
}

describe('diptych migrate', () => {
  it('copies a file, and says so', async () => {
    await fill();
    const target = join(place.directory, 'new', 'copy.db');
    const args = ['migrate', '--from', `sqlite:${place.database}`, '--to', `sqlite:${target}`];
    const first = await place.run(args);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toMatch(/sessions +16 +16 +0 +[0-9a-f]{12} +same\n/);
    expect(first.out).toContain(`${target} holds what ${place.database} holds`);
    expect(first.out).not.toContain('DIFFERS');

    const again = await place.run([...args, '--json']);
    expect(again.code).toBe(0);
    const { complete, tables } = parsed(again.out);
    expect(complete).toBe(true);
    expect(tables.map(({ table }) => table)).toEqual(TRANSFER_TABLES);
    const [sessions = {}] = tables;
    expect(sessions).toMatchObject({ table: 'sessions', copied: 0, present: 16, rows: 16, source_rows: 16 });
    expect(sessions.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(sessions.source_digest).toBe(sessions.digest);
  });

  it('says what differs, and fails', async () => {
    await fill();
    const target = join(place.directory, 'copy.db');
    const args = ['migrate', '--from', `sqlite:${place.database}`, '--to', `sqlite:${target}`];
    expect((await place.run(args)).code).toBe(0);
    const store = await openTestSqlite({ path: target });
    await store.deleteSession(SESSIONS[0] ?? '', 1);
    await store.close();
    const { code, out } = await place.run(args);
    expect(code).toBe(1);
    expect(out).toMatch(
      /sessions: 16 rows in the source, 16 in the target; 1 with different content, 0 that/,
    );
    expect(out).not.toContain('holds what');
    expect((await place.runAfter(UNREAD, args)).code).toBe(1);
    const json = await place.run([...args, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ complete: false });
  });

  it('reports rows that belong to no session or turn, and fails', async () => {
    await fill();
    const db = new SqliteDatabase(place.database);
    db.pragma('foreign_keys = off');
    db.exec("INSERT INTO events (session, id, at, body) VALUES (987654, 1, 1, '{}')");
    const { changes } = db
      .prepare('UPDATE messages SET turn_no = 987654 WHERE ref IN (SELECT ref FROM messages LIMIT 2)')
      .run();
    db.close();
    expect(changes).toBe(2);
    const args = [
      'migrate',
      '--from',
      `sqlite:${place.database}`,
      '--to',
      `sqlite:${place.directory}/copy.db`,
    ];
    const { code, out } = await place.run(args);
    expect(code).toBe(1);
    expect(out).toMatch(/^messages +\d+ +\d+ +0 +[0-9a-f]{12} +DIFFERS$/m);
    expect(out).toMatch(/^messages: .* 2 of the source without a session or turn, not copied$/m);
    expect(out).toMatch(/^events: .* 1 of the source without a session or turn, not copied$/m);
    expect(out).toContain('Delete such rows in the source, and run the command again');
    expect(out).not.toMatch(/Stop the services|holds what/);
    const json = parsed((await place.run([...args, '--json'])).out);
    expect(json.complete).toBe(false);
    expect(json.tables).toContainEqual(expect.objectContaining({ table: 'events', orphans: 1, same: false }));
  });

  it('refuses while a node works on the source, unless it is forced', async () => {
    const store = await openTestSqlite({ path: place.database });
    const lease = { owner: 'node', milliseconds: LEASE_MS };
    const { id } = await sendAndClaim(store, SESSION, { claim: lease });
    const renewal = setInterval(() => void store.renewLeases(lease, [id]), LEASE_MS / 6);
    const target = join(place.directory, 'copy.db');
    const args = ['migrate', '--from', `sqlite:${place.database}`, '--to', `sqlite:${target}`];
    const { code, out, err } = await place.run(args);
    clearInterval(renewal);
    await store.close();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('A node uses --from: 1 turn runs there.');
    expect((await place.run([...args, '--force'])).code).toBe(0);
  });

  it('refuses two spellings of one file', async () => {
    await fill();
    const link = join(place.directory, 'link.db');
    linkSync(place.database, link);
    const { code, out, err } = await place.run([
      ...['migrate', '--from', `sqlite:${place.database}`, '--to', `sqlite:${link}`],
    ]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('--from and --to are the same database');
  });

  it.each([
    [['migrate', '--from', 'sqlite:a.db'], /required option '--to <url>'/],
    [['migrate', '--from', 'mysql://u:hunter2@db', '--to', 'sqlite:a.db'], /--from must be sqlite:PATH/],
    [['migrate', '--from', 'sqlite:a.db', '--to', 'postgres://u:hunter2/@db'], /--to must be a URL/],
    [['migrate', '--from', 'sqlite::memory:', '--to', 'sqlite:a.db'], /ends with its process/],
  ])('%j is a usage error', async (args, words) => {
    const { code, out, err } = await place.run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(words);
    expect(err).not.toContain('hunter2');
  });

  it('warns when the source has lost data', async () => {
    mkdirSync(dirname(place.database), { recursive: true });
    writeFileSync(place.database, '');
    const target = join(place.directory, 'copy', 'copy.db');
    mkdirSync(dirname(target));
    for (const file of [place.database, target]) writeFileSync(join(dirname(file), 'secrets.key'), 'a key');
    const { err } = await place.run([
      ...['migrate', '--from', `sqlite:${place.database}`, '--to', `sqlite:${target}`],
    ]);
    expect(err).toMatch(
      /^warning: the database .*diptych\.db was empty or missing, but secrets\.key exists.*\n$/,
    );
  });

  it('reports a missing source in one line', async () => {
    const { code, err } = await place.run(['migrate', '--from', 'sqlite:none.db', '--to', 'sqlite:b.db']);
    expect(code).toBe(1);
    expect(err).toMatch(/^diptych: there is no database .*none\.db\n$/);
  });
});

describeWithPostgres('diptych migrate to PostgreSQL', () => {
  const database = testDatabase();

  it('refuses two spellings of one database', async () => {
    const url = await database.newUrl();
    const other = new URL(url);
    other.searchParams.set('application_name', 'other');
    const sqlite = ['migrate', '--from', `sqlite:${place.database}`, '--to', url];
    await fill();
    expect((await place.run(sqlite)).code).toBe(0);
    const { code, out, err } = await place.run(['migrate', '--from', url, '--to', other.href]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('--from and --to are the same database');
  });

  it('a service goes on there: same texts, ids, cursors, ETags and secrets', async () => {
    const { running, url } = await place.serve();
    for (const message of [
      'remember the number 42',
      '/tool get_time {}',
      'what number did I ask you to remember?',
    ]) {
      const sent = await fetch(`${url}/api/chat?message=${encodeURIComponent(message)}`, {
        method: 'POST',
        headers: { 'X-Session-Id': SESSION, Prefer: 'wait=30' },
      });
      expect(await sent.json()).toMatchObject({ is_processing: false });
    }
    const stored = await fetch(`${url}/api/secrets`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ client_id: CLIENT, secrets: { API_KEY: 'value' } }),
    });
    expect(stored.status).toBe(200);
    // The title comes after the turn.
    await stop(running);
    const second = await place.serve();
    const before = await ask(second.url);
    await stop(second.running);

    const target = await database.newUrl();
    const moved = await place.run(['migrate', '--from', `sqlite:${place.database}`, '--to', target]);
    expect(moved).toMatchObject({ code: 0, err: '' });
    const keyFile = join(place.directory, 'data', 'secrets.key');
    expect(moved.out).toContain(`SECRETS_KEY must be the content of ${keyFile}`);
    const key = readFileSync(keyFile, 'utf8').trim();
    expect(`${moved.out}${moved.err}`).not.toContain(key);

    const env = { DATABASE_URL: target, SECRETS_KEY: key };
    const third = await place.serve(env);
    const after = await ask(third.url);
    expect(after).toEqual(before);
    expect(JSON.stringify(before.state)).toContain('42');
    expect(before.names).toEqual({ by_app: { default: ['API_KEY'] } });
    const unchanged = await fetch(`${third.url}/api/state`, {
      headers: { 'X-Session-Id': SESSION, 'If-None-Match': String(before.etag) },
    });
    expect(unchanged.status).toBe(304);
    await stop(third.running);

    // Each value really opens there.
    const newest = Buffer.alloc(32, 7).toString('base64');
    const rotated = await place.run(['secrets', 'rotate', '--json'], {
      env: { ...env, SECRETS_KEY: `${newest},${key}` },
    });
    expect(JSON.parse(rotated.out)).toMatchObject({ rotated: 1, complete: true });
  });

  it('never shows a password', async () => {
    const target = new URL(await database.newUrl());
    target.username = 'nobody';
    target.password = 'hunter2-hunter2';
    await fill();
    const { code, out, err } = await place.run([
      ...['migrate', '--from', `sqlite:${place.database}`],
      ...['--to', target.href],
    ]);
    expect(code).toBe(1);
    expect(`${out}${err}`).not.toContain('hunter2');
  });

  it('killed in the middle, it goes on when it is run again', async () => {
    await fill();
    const target = await database.newUrl();
    const side = await openPostgresTransfer(target, { mustExist: false });
    await side.close();
    // Somebody holds the table, so that the copy stands still after the sessions.
    const name = new URL(target).searchParams.get('options')?.split('=')[1] ?? '';
    const holding = await holdTable(target, `${name}.messages`);
    const running = place.start(CLI, ['migrate', '--from', `sqlite:${place.database}`, '--to', target]);
    await holding.waitedFor();
    running.child.kill('SIGKILL');
    expect(await running.ended).toBe('SIGKILL');
    // The server has not noticed yet, and would go on with what waits.
    await holding.endWaiting();
    await holding.release();
    expect(await runSql(target, 'SELECT count(*)::int AS n FROM sessions')).toEqual([{ n: 16 }]);
    expect(await runSql(target, 'SELECT count(*)::int AS n FROM messages')).toEqual([{ n: 0 }]);

    const again = await place.run([
      'migrate',
      '--from',
      `sqlite:${place.database}`,
      '--to',
      target,
      '--json',
    ]);
    expect(again.code).toBe(0);
    const { complete, tables } = parsed(again.out);
    expect(complete).toBe(true);
    expect(tables[0]).toMatchObject({ table: 'sessions', copied: 0, present: 16 });
    expect(tables[2]).toMatchObject({ table: 'messages', present: 0 });
  });
});

/** Locks a table for itself. `waitedFor` resolves when somebody else stands in line for it. */
async function holdTable(url: string, table: string) {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
  return {
    async waitedFor(): Promise<void> {
      for (;;) {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`,
        );
        if (rows.length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async endWaiting(): Promise<void> {
      await client.query(
        `SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`,
      );
    },
    async release(): Promise<void> {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
