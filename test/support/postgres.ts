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

/** A database of this file alone, dropped after its tests. Each call of `newUrl` names an empty schema in it. */
export function testDatabase() {
  const name = `diptych_test_${randomBytes(6).toString('hex')}`;
  const server = new URL(POSTGRES_URL);
  const database = new URL(POSTGRES_URL);
  database.pathname = `/${name}`;
  let created: Promise<unknown> | undefined;
  let schemas = 0;

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
      return openPostgresStore({ url: options.url ?? (await newUrl()), poolSize: 4, ...options });
    },
  };
}
