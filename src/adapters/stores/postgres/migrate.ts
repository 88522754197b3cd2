import { readdir, readFile } from 'node:fs/promises';
import type { Client } from 'pg';
import { requireSchema, SchemaVersionError } from '../schema-version.js';
import { clientConfig, createClient, type PostgresOptions } from './connections.js';
import { toStoreError } from './failure.js';

/** A schema migration. Each is applied once, in order of its number, starting at 1. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** Key of the advisory lock that serializes migrations: `dipt` in ASCII. */
const LOCK = 0x64697074;
/** How long to wait for another process's migration, in milliseconds. */
const LOCK_MS = 60_000;

/** Reads the files `NNNN-name.sql` of a folder. @throws Error when a number is missing or used twice */
export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(name.slice(0, 4));
      if (number !== index + 1) {
        throw new Error(`migration ${name} is out of order: number ${String(index + 1)} was expected`);
      }
      return { number, name, sql: await readFile(new URL(name, folder), 'utf8') };
    }),
  );
}

/**
 * Migrates a database to the newest schema, each migration in a transaction of its own, one process at a time.
 * @returns the server settings that every connection needs so that acknowledged commits are durable
 * @throws StoreUnavailableError when the database cannot be reached
 * @throws SchemaVersionError when its schema is newer than this program, older and must not be migrated, or absent and
 * must not be created
 */
export async function migrate(
  options: PostgresOptions,
  migrations: readonly Migration[],
): Promise<Readonly<Record<string, string>>> {
  const client = createClient(clientConfig(options));
  // An unhandled 'error' event would end the process. A connection lost between statements fails the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { creates = true } = options;
    let { migrates = true } = options;
    // A database that was empty gets all of them.
    while (!(await applyNext(client, migrations, { creates, migrates }))) migrates = true;
    const { rows } = await client.query<{ synchronous_commit: string }>('SHOW synchronous_commit');
    return rows[0]?.synchronous_commit === 'off' ? { synchronous_commit: 'on' } : {};
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end();
  }
}

/**
 * Applies the first migration that is missing. Reads the version under the lock: another process may have applied more.
 * @param options `creates` false: an empty database is an error; `migrates` false: so is an older schema
 * @returns true if none is missing any more
 */
async function applyNext(
  client: Client,
  migrations: readonly Migration[],
  { creates, migrates }: { readonly creates: boolean; readonly migrates: boolean },
): Promise<boolean> {
  await client.query(`BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${String(LOCK_MS)}`);
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
  // `CREATE TABLE IF NOT EXISTS` needs the right to create tables also where the table exists.
  if (!(await hasTables(client))) {
    await client.query(
      `CREATE TABLE schema_migrations (
         number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    // After the statement, which reports a missing right, and which the end of the connection rolls back.
    if (!creates) {
      throw new SchemaVersionError(
        'empty',
        'this PostgreSQL database has no tables of Diptych: see --database-url, or start the service first',
      );
    }
  }
  const { rows } = await client.query<{ found: number }>(
    'SELECT coalesce(max(number), 0) AS found FROM schema_migrations',
  );
  const found = rows[0]?.found ?? 0;
  requireSchema(found, migrations.length, migrates);
  const next = migrations[found];
  if (next !== undefined) {
    await client.query(next.sql);
    await client.query('INSERT INTO schema_migrations (number, name) VALUES ($1, $2)', [
      next.number,
      next.name,
    ]);
  }
  await client.query('COMMIT');
  return found + 1 >= migrations.length;
}

/** Whether the schema in which a connection creates tables has those of Diptych. */
export async function hasTables(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "SELECT to_regclass(quote_ident(current_schema()) || '.schema_migrations') IS NOT NULL AS found",
  );
  return rows[0]?.found === true;
}
