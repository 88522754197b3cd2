import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { TABLES } from '../../src/adapters/stores/postgres/queries/probe.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { StoreUnavailableError } from '../../src/core/ports/store.js';
import { loaded, send } from '../contracts/store-fixtures.js';
import { describeWithPostgres, POSTGRES_URL, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

describeWithPostgres('a PostgreSQL store whose role lacks a right', () => {
  const database = testDatabase();
  const role = `diptych_role_${randomUUID().slice(0, 8)}`;
  /** The tests' own superuser in a schema of its own. */
  let owner: string;
  /** The role without rights to that schema. */
  let url: string;
  let schema: string;

  beforeEach(async () => {
    owner = await database.newUrl();
    const parsed = new URL(owner);
    const options = parsed.searchParams.get('options') ?? '';
    schema = options.split('=').at(-1) ?? '';
    parsed.searchParams.set('options', `${options} -c role=${role}`);
    url = parsed.href;
    await runSql(owner, `DO $$ BEGIN CREATE ROLE ${role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
  });
  afterAll(async () => {
    // The database of the tests, and with it all that depends on the role, is dropped before.
    await runSql(POSTGRES_URL, `DROP ROLE ${role}`);
  });

  async function createTables(): Promise<void> {
    await (await openPostgresStore({ url: owner })).close();
  }

  async function grant(rights: string): Promise<void> {
    await runSql(owner, rights);
  }

  it('starts without the right to create tables once they exist', async () => {
    await createTables();
    await grant(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
    const store = await openPostgresStore({ url, poolSize: 1 });
    try {
      const id = randomUUID();
      await send(store, id);
      expect((await loaded(store, id)).open).toHaveLength(1);
    } finally {
      await store.close();
    }
  });

  it.each([
    ['no schema has been selected to create in', () => Promise.resolve()],
    [
      'permission denied for schema',
      async () => {
        await grant(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
      },
    ],
    [
      'permission denied for table schema_migrations',
      async () => {
        await createTables();
        await grant(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
      },
    ],
  ])('reports at the start: %s', async (message, prepare) => {
    await prepare();
    for (const creates of [true, false]) {
      const opening = openPostgresStore({ url, creates });
      await expect(opening).rejects.toThrow(StoreUnavailableError);
      await expect(opening).rejects.toThrow(`PostgreSQL cannot be used now: ${message}`);
    }
  });

  it('is unavailable for a statement that needs a right which was revoked, and available once it is granted', async () => {
    await grant(`GRANT ALL ON SCHEMA ${schema} TO ${role}`);
    const store = await openPostgresStore({ url, poolSize: 1 });
    try {
      await grant(`ALTER TABLE ${schema}.sessions OWNER TO CURRENT_USER`);
      const id = randomUUID();
      const words = 'PostgreSQL cannot be used now: permission denied for table sessions';
      const write = send(store, id);
      await expect(write).rejects.toThrow(StoreUnavailableError);
      await expect(write).rejects.toThrow(words);
      await expect(store.loadThread(id)).rejects.toThrow(words);
      await grant(`GRANT ALL ON ${schema}.sessions TO ${role}`);
      await send(store, id);
      expect((await loaded(store, id)).open).toHaveLength(1);
    } finally {
      await store.close();
    }
  });

  it('fails its health check while a right to any table or the sequence is missing', async () => {
    await createTables();
    await grant(`GRANT USAGE ON SCHEMA ${schema} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
    const store = await openPostgresStore({ url, poolSize: 1 });
    try {
      await store.check();
      for (const [right, object] of [
        ['INSERT', 'table messages'],
        ['SELECT', 'table secrets'],
        ['INSERT', 'table probe'],
        ['USAGE', 'sequence session_refs'],
      ] as const) {
        const named = object.replace(' ', ` ${schema}.`);
        await grant(`REVOKE ${right} ON ${named} FROM ${role}`);
        const checked = store.check();
        await expect(checked).rejects.toThrow(StoreUnavailableError);
        await expect(checked).rejects.toThrow(`permission denied for ${object}`);
        await grant(`GRANT ${right} ON ${named} TO ${role}`);
        await store.check();
      }
    } finally {
      await store.close();
    }
  });

  it('checks the rights to all its tables', async () => {
    await createTables();
    const rows = await runSql<{ tablename: string }>(
      owner,
      `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`,
    );
    expect(rows.map(({ tablename }) => tablename).sort()).toEqual([...TABLES, 'schema_migrations'].sort());
  });
});
