import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { requireSchema } from '../schema-version.js';

/** A schema migration. Each is applied once, in order of its number, starting at 1. */
export interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** Reads the files `NNNN-name.sql` of a folder. @throws Error when a number is missing or used twice */
export function readMigrations(folder: URL): readonly Migration[] {
  const names = readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort();
  return names.map((name, index) => {
    const number = Number(name.slice(0, 4));
    if (number !== index + 1) {
      throw new Error(`migration ${name} is out of order: number ${String(index + 1)} was expected`);
    }
    return { number, sql: readFileSync(new URL(name, folder), 'utf8') };
  });
}

/**
 * Migrates a database to the newest schema, each migration in its own transaction. `PRAGMA user_version` is the number
 * of the last one applied. Several processes may migrate at the same time.
 * @param migrates false: an older schema is an error, and only an empty database gets one
 * @throws SchemaVersionError when the database is newer than the program, or older and must not be migrated
 */
export function migrate(
  db: Database,
  migrations: readonly Migration[],
  { migrates = true }: { readonly migrates?: boolean } = {},
): void {
  requireSchema(schemaVersion(db), migrations.length, migrates);
  for (const { number, sql } of migrations) {
    if (schemaVersion(db) >= number) continue;
    db.transaction(() => {
      // Checks again under the lock: another process may have applied it since.
      if (schemaVersion(db) >= number) return;
      // Unsafe mode lets a migration write to `sqlite_schema`; it is off at all other times.
      db.unsafeMode(true);
      try {
        db.exec(sql);
      } finally {
        db.unsafeMode(false);
      }
      db.pragma(`user_version = ${String(number)}`);
    }).immediate();
  }
}

function schemaVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
