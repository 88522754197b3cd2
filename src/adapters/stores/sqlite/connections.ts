import SqliteDatabase, { type Database } from 'better-sqlite3';
import { sqliteCode } from './failure.js';
import { identify } from './files/open-files.js';
import { makePrivate } from './files/private-files.js';
import { migrate, readMigrations } from './migrate.js';

/** How the writing connection is opened. */
export interface WriterOptions {
  readonly path: string;
  /** How long a write waits for another process that has the database locked, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** How large the file may grow, in pages of 4 KiB; null: as far as the disk goes. */
  readonly maxPages: number | null;
  /** Files that a service makes beside its database: where they are, an empty database is a lost one. */
  readonly companions: readonly string[];
  /** The file that must be at the path (see `identify`); absent: any file, or none, which is then made. */
  readonly identity?: string | undefined;
}

/** A reader waits only this long, for it does so on the main thread. In WAL mode it waits for no writer. */
const READER_BUSY_MS = 50;

/**
 * Opens the writing connection, and brings the schema up to date.
 * @param onRecovered is called when SQLite has read the write-ahead log, before anything is written
 * @throws Error that names the file and what is wrong
 */
export function openWriting(
  { path, busyTimeoutMs, maxPages, identity }: Omit<WriterOptions, 'companions'>,
  onRecovered: (db: Database) => void = () => undefined,
): Database {
  if (identity !== undefined && identify(path) !== identity)
    throw new Error('the database file that was open is not there any more: put it back, or restart');
  makePrivate(path);
  const db = new SqliteDatabase(path, { timeout: busyTimeoutMs });
  try {
    enterWal(db, busyTimeoutMs);
    onRecovered(db);
    // FULL: a commit that was acknowledged outlives a power cut.
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 8000');
    db.pragma('foreign_keys = ON');
    migrate(db, readMigrations(new URL('./migrations/', import.meta.url)));
    if (maxPages !== null) db.pragma(`max_page_count = ${String(maxPages)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens a connection that only reads. The file must have been opened for writing before. */
export function openReading(path: string): Database {
  return new SqliteDatabase(path, { readonly: true, fileMustExist: true, timeout: READER_BUSY_MS });
}

/**
 * The change to WAL does not wait for a lock by itself (https://sqlite.org/wal.html, "Sometimes Queries Return
 * SQLITE_BUSY").
 */
function enterWal(db: Database, busyTimeoutMs: number): void {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      const busy = sqliteCode(error)?.startsWith('SQLITE_BUSY') === true;
      if (!busy || performance.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
