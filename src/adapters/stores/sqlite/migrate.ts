import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';

/** A step of the schema: applied once, in order of its number, 1, 2, 3 … */
export interface Migration {
  readonly number: number;
  readonly sql: string;
}

/** The database was written by a newer version of the program. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

/** The migrations of a folder: its files `NNNN-name.sql`. @throws Error when a number is missing or used twice */
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
 * Brings a database to the newest schema, each migration in a transaction of its own; `PRAGMA user_version` says
 * how far it is. Safe when several processes do it at once.
 * @throws NewerDatabaseError when the database is newer than the program
 */
export function migrate(db: Database, migrations: readonly Migration[]): void {
  const known = migrations.length;
  const found = schemaVersion(db);
  if (found > known) {
    throw new NewerDatabaseError(
      `the database was written by a newer version of this program: its schema is ${String(found)}, ` +
        `and this version knows ${String(known)}. Start the newer version, or restore a backup made by this one.`,
    );
  }
  for (const { number, sql } of migrations) {
    if (schemaVersion(db) >= number) continue;
    db.transaction(() => {
      // Asked again under the lock: another process may have been faster.
      if (schemaVersion(db) >= number) return;
      // Only migrations may change what the schema says of itself.
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
