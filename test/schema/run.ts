/** Writes the schema of each store for readers, that of PostgreSQL by a database which is removed again. */
import { writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { openDatabase } from '../chaos/services/database.js';
import { postgresSchema, schemaFile, sqliteSchema } from './schemas.js';

writeFileSync(schemaFile('sqlite'), sqliteSchema());
const database = await openDatabase(devNull);
try {
  const url = database.url(database.port);
  await (await openPostgresStore({ url, poolSize: 1 })).close();
  writeFileSync(schemaFile('postgres'), await postgresSchema(url));
} finally {
  await database.close();
}
