import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { Place } from './running.js';

// Each test starts processes.
jest.setTimeout(60_000);

describeWithPostgres('a command on an empty PostgreSQL database', () => {
  const database = testDatabase();
  const place = new Place();
  const env = { DATABASE_URL: '', SECRETS_KEY: randomBytes(32).toString('base64') };
  beforeAll(async () => {
    env.DATABASE_URL = await database.newUrl();
  });
  afterAll(() => place.clear());

  const tables = (): Promise<unknown[]> =>
    runSql(env.DATABASE_URL, 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()');

  it.each([
    ['keys', 'list'],
    ['sessions', 'list'],
  ])('%s %s reports that there are no tables, and creates none', async (...args) => {
    const { code, out, err } = await place.run(args, { env });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('this PostgreSQL database has no tables of Diptych');
    expect(await tables()).toEqual([]);
  });

  it('check reports that the service creates them', async () => {
    const { code, out } = await place.run(['check'], { env });
    expect(out).toMatch(/ok {4}store: PostgreSQL at .*: no tables yet; the service creates them/);
    expect(code).toBe(0);
    expect(await tables()).toEqual([]);
  });

  it('keys create creates them', async () => {
    expect(await place.run(['keys', 'create', '--app', 'default'], { env })).toMatchObject({ code: 0 });
    expect(await place.run(['keys', 'list'], { env })).toMatchObject({
      code: 0,
      out: expect.stringContaining('active'),
    });
  });
});
