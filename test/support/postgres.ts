import { randomBytes } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import type { PostgresOptions } from '../../src/adapters/stores/postgres/connections.js';
import type { Store } from '../../src/core/ports/store.js';
import { describeWhere, PATIENCE_MS } from './describe-where.js';
import { runSql } from './run-sql.js';

/** The server that tests use: they create and drop databases of their own there. */
export const POSTGRES_URL = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';

async function findPostgres(): Promise<string | null> {
  const client = new Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: PATIENCE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return null;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    const { host, port } = client;
    return `skipped: no PostgreSQL at ${host}:${String(port)}, see TEST_POSTGRES_URL`;
  } finally {
    await client.end();
  }
}

/** Describes tests that need PostgreSQL: without one they are skipped, but fail when `CI` is `true`. */
export const describeWithPostgres = describeWhere(await findPostgres());

/** Deletes all rows of a schema, which is faster than to truncate small tables, and restarts its sequences. */
const EMPTY = `DO $$
  DECLARE t record;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema AND tablename <> 'schema_migrations'
    LOOP EXECUTE format('DELETE FROM %I', t.tablename); END LOOP;
    FOR t IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema
    LOOP EXECUTE format('ALTER SEQUENCE %I RESTART', t.sequencename); END LOOP;
  END $$`;

/** Empties all tables of the schema of a URL. */
export async function emptySchema(url: string): Promise<void> {
  await runSql(url, EMPTY);
}

/**
 * A database of this file alone, dropped after its tests. Each call of `newUrl` names an empty schema in it; `open` uses
 * the schema of a store that was closed again, because migrations take longer than most tests.
 */
export function testDatabase() {
  const name = `diptych_test_${randomBytes(6).toString('hex')}`;
  const server = new URL(POSTGRES_URL);
  const database = new URL(POSTGRES_URL);
  database.pathname = `/${name}`;
  let created: Promise<unknown> | undefined;
  let schemas = 0;
  const closed: string[] = [];

  afterAll(async () => {
    if (created === undefined) return;
    await created;
    await runSql(server.href, `DROP DATABASE ${name} WITH (FORCE)`);
  });

  async function newUrl(): Promise<string> {
    created ??= runSql(server.href, `CREATE DATABASE ${name}`);
    await created;
    schemas += 1;
    const schema = `s${String(schemas)}`;
    await runSql(database.href, `CREATE SCHEMA ${schema}`);
    const url = new URL(database);
    url.searchParams.set('options', `-c search_path=${schema}`);
    return url.href;
  }

  return {
    name,
    newUrl,
    async open(options: Partial<PostgresOptions> = {}): Promise<Store> {
      if (options.url !== undefined) return openPostgresStore({ poolSize: 4, ...options, url: options.url });
      const used = closed.pop();
      if (used !== undefined) await emptySchema(used);
      const url = used ?? (await newUrl());
      const store = await openPostgresStore({ poolSize: 4, ...options, url });
      return {
        ...store,
        async close() {
          await store.close();
          closed.push(url);
        },
      };
    },
  };
}
