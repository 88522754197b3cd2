import { randomBytes } from 'node:crypto';
import { afterAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { CLI, MAIN, Place } from './cli/running.js';
import { describeWithPostgres, testDatabase } from './support/postgres.js';
import { runSql } from './support/run-sql.js';
import { openTestSqlite } from './support/sqlite.js';

// Each test starts a process.
jest.setTimeout(60_000);

/** The lock that serializes migrations: `dipt` in ASCII. */
const LOCK = 0x64697074;
const WAITING = `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
  WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`;

describeWithPostgres('a start that waits for the migration of another node', () => {
  const database = testDatabase();
  const place = new Place();
  afterAll(() => place.clear());

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('exits on %s with %d', async (signal, code) => {
    const url = await database.newUrl();
    const holder = new Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
      const secretsKey = randomBytes(32).toString('base64');
      const running = place.start(MAIN, [], { DATABASE_URL: url, SECRETS_KEY: secretsKey });
      while ((await runSql(url, WAITING)).length === 0);
      running.child.kill(signal);
      // A process that ends by default, which process 1 of a container does not, has a signal and no code.
      expect(await running.ended).toBe(code);
    } finally {
      await holder.end();
    }
  });

  it('lets `diptych migrate` be interrupted', async () => {
    const url = await database.newUrl();
    const holder = new Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
      const store = await openTestSqlite({ path: place.database });
      await store.close();
      const running = place.start(CLI, ['migrate', '--from', `sqlite:${place.database}`, '--to', url]);
      while ((await runSql(url, WAITING)).length === 0);
      running.child.kill('SIGINT');
      expect(await running.ended).toBe('SIGINT');
    } finally {
      await holder.end();
    }
  });
});
