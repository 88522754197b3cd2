import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrate, readMigrations } from '../../src/adapters/stores/postgres/migrate.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

const MIGRATIONS = await readMigrations(
  new URL('../../src/adapters/stores/postgres/migrations/', import.meta.url),
);
/** The schema of the last release. */
const RELEASED = 19;
const GROW = 'UPDATE sessions SET last_event_id = last_event_id + 1 WHERE id = $1';

describeWithPostgres('a migration from the schema of the last release', () => {
  const database = testDatabase();

  /** A database of the last release with sessions `s1` to `s2000`, of which all but the first 10 have a long log. */
  async function released(): Promise<string> {
    const url = await database.newUrl();
    await migrate({ url }, MIGRATIONS.slice(0, RELEASED));
    await runSql(
      url,
      `INSERT INTO sessions (id, title, title_source, created_at, active_at, last_event_id)
       SELECT 's' || n, 't', 'placeholder', n, n, CASE WHEN n > 10 THEN 100 ELSE 60 END
       FROM generate_series(1, 2000) AS n`,
    );
    return url;
  }

  async function connected<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  /** Changes a session as a node does: it locks the row, and then writes it. */
  async function grow(client: Client, id: string, locked: () => Promise<unknown> = () => Promise.resolve()) {
    await client.query('BEGIN');
    await client.query('SELECT FROM sessions WHERE id = $1 FOR UPDATE', [id]);
    await locked();
    await client.query(GROW, [id]);
    await client.query('COMMIT');
  }

  /** True once a connection to the database waits for a lock, false once the work is done. */
  async function waitsForLock(url: string, work: Promise<unknown>): Promise<boolean> {
    const state = { isDone: false };
    const done = () => (state.isDone = true);
    void work.then(done, done);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while (!state.isDone) if ((await runSql(url, waiting)).length > 0) return true;
    return false;
  }

  it('does not wait for a transaction that has locked a row and is about to write it', async () => {
    const url = await released();
    await connected(url, async (client) => {
      let migration: Promise<unknown> = Promise.resolve();
      await grow(client, 's1', async () => {
        migration = migrate({ url }, MIGRATIONS);
        // With a lock that it waits for, the write would complete a deadlock.
        expect(await waitsForLock(url, migration)).toBe(false);
      });
      await migration;
    });
  });

  it('loses no log that grows beside it', async () => {
    const url = await released();
    let isMigrating = true;
    let writes = 0;
    const write = (part: number) =>
      connected(url, async (client) => {
        for (let n = 0; isMigrating || n < 50; n++) {
          await grow(client, `s${String(((n * 4 + part) % 2000) + 1)}`);
          writes++;
        }
      });
    await Promise.all([
      ...[0, 1, 2, 3].map((part) => write(part)),
      migrate({ url }, MIGRATIONS).finally(() => (isMigrating = false)),
    ]);
    expect(writes).toBeGreaterThanOrEqual(200);
    const unlisted = `SELECT id FROM sessions
      WHERE last_event_id >= 64 AND NOT EXISTS (SELECT FROM long_logs WHERE session = ref)`;
    expect(await runSql(url, unlisted)).toEqual([]);
    const [last] = await runSql(url, 'SELECT max(number) AS number FROM schema_migrations');
    expect(last).toEqual({ number: MIGRATIONS.length });
  });

  it('acquires no lock on a table or index of that schema that excludes readers', async () => {
    const url = await released();
    await connected(url, async (client) => {
      await client.query('CREATE TEMPORARY TABLE known AS SELECT oid, relname FROM pg_class');
      for (const { name, sql } of MIGRATIONS.slice(RELEASED)) {
        await client.query('BEGIN');
        await client.query(sql);
        const { rows } = await client.query(
          `SELECT relname FROM pg_locks JOIN known ON known.oid = relation
           WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock'`,
        );
        expect({ name, rows }).toEqual({ name, rows: [] });
        await client.query('COMMIT');
      }
    });
  });

  it('lists a log that grows while it is being removed from the list', async () => {
    const url = await released();
    await migrate({ url }, MIGRATIONS);
    await runSql(url, "UPDATE sessions SET last_event_id = 127 WHERE id = 's11'");
    const listed = `long_logs WHERE session = (SELECT ref FROM sessions WHERE id = 's11')`;
    await connected(url, (trimming) =>
      connected(url, async (writing) => {
        await trimming.query('BEGIN');
        // As trim_log: locks the row, finds nothing left to remove, and deletes the row.
        expect((await trimming.query(`SELECT FROM ${listed} FOR UPDATE`)).rowCount).toBe(1);
        const grown = writing.query(GROW, ['s11']);
        await waitsForLock(url, grown);
        await trimming.query(`DELETE FROM ${listed}`);
        await trimming.query('COMMIT');
        await grown;
      }),
    );
    expect(await runSql(url, `SELECT FROM ${listed}`)).toHaveLength(1);
  });

  it('removes open turns whose session was deleted, and no others', async () => {
    const url = await released();
    await runSql(
      url,
      `INSERT INTO turns (id, session, no, app, status, created_at)
       SELECT 'of-' || id, ref, 1, 'default', 'running', 1 FROM sessions WHERE id = 's1'
       UNION ALL VALUES ('left', -1, 1, 'default', 'running', 1), ('waits', -1, 2, 'default', 'queued', 1)`,
    );
    await migrate({ url }, MIGRATIONS);
    expect(await runSql(url, 'SELECT id FROM turns')).toEqual([{ id: 'of-s1' }]);
  });
});
