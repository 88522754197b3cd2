import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { postgresSchema, schemaFile, sqliteSchema } from '../schema/schemas.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';

it('the schema of SQLite for readers is that of the migrations (if not: npm run schema)', () => {
  expect(readFileSync(schemaFile('sqlite'), 'utf8')).toBe(sqliteSchema());
});

describeWithPostgres('the schema of PostgreSQL for readers', () => {
  const database = testDatabase();

  it('is that of the migrations (if not: npm run schema)', async () => {
    const url = await database.newUrl();
    await (await openPostgresStore({ url, poolSize: 1 })).close();
    expect(readFileSync(schemaFile('postgres'), 'utf8')).toBe(await postgresSchema(url));
  });
});
