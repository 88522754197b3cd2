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

/** A module that makes a process believe that it is the first of its container. */
const AS_PROCESS_1 = "data:text/javascript,Object.defineProperty(process,'pid',{value:1})";

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

  it.each([
    ['', {}, 'SIGINT'],
    // Nothing ends process 1 by default.
    [' as process 1 of a container', { NODE_OPTIONS: `--import ${AS_PROCESS_1}` }, 130],
  ])('lets `diptych migrate` be interrupted%s', async (_, env, ended) => {
    const url = await database.newUrl();
    const holder = new Client({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
      const store = await openTestSqlite({ path: place.database });
      await store.close();
      const running = place.start(CLI, ['migrate', '--from', `sqlite:${place.database}`, '--to', url], env);
      while ((await runSql(url, WAITING)).length === 0);
      running.child.kill('SIGINT');
      expect(await running.ended).toBe(ended);
    } finally {
      await holder.end();
    }
  });
});
