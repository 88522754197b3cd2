/** Writes the schema of each store for readers; PostgreSQL makes a database for it and drops it. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { runSql } from '../support/run-sql.js';
import { postgresSchema, schemaFile, sqliteSchema } from './schemas.js';

const server = new URL(process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres');
const name = `diptych_schema_${randomBytes(6).toString('hex')}`;
const database = new URL(server);
database.pathname = `/${name}`;

writeFileSync(schemaFile('sqlite'), sqliteSchema());
await runSql(server.href, `CREATE DATABASE ${name}`);
try {
  const store = await openPostgresStore({ url: database.href, poolSize: 1 });
  await store.close();
  writeFileSync(schemaFile('postgres'), await postgresSchema(database.href));
} finally {
  await runSql(server.href, `DROP DATABASE ${name} WITH (FORCE)`);
}
