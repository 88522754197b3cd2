import type { Database } from 'better-sqlite3';
import { SchemaVersionError } from '../schema-version.js';
import { SqliteDatabase } from './driver.js';
import { sqliteCode } from './failure.js';
import { checkpoint } from './files/disk-bound.js';
import { isLogEmpty } from './files/database-files.js';
import { identify } from './files/open-files.js';
import { makePrivate, prepareFile } from './files/private-files.js';
import { migrate, readMigrations } from './migrate.js';

/** Options for opening the writing connection. */
export interface WriterOptions {
  readonly path: string;
  /** How long a write waits for another process's lock on the database, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Maximum size of the file, in pages of 4 KiB; null: limited only by the disk. */
  readonly maxPages: number | null;
  /** Files that a service creates beside its database. If they exist and the database is empty, its data was lost. */
  readonly companions: readonly string[];
  /** Whether a missing file is created. */
  readonly creates: boolean;
  /** Whether an older schema is migrated. */
  readonly migrates: boolean;
  /** Identity of the file that must be at the path (see `identify`). Absent: any file. */
  readonly identity?: string | undefined;
}

/** Lock timeout of a reader, in milliseconds. Short, because the wait blocks the main thread. */
const READER_BUSY_MS = 50;

/**
 * Opens the writing connection and migrates the schema.
 * @param onRecovered called after SQLite has recovered the write-ahead log, before anything is written
 * @throws SchemaVersionError when the schema is newer, older and must not be migrated, or one of another program
 * @throws Error when the file is not the expected one, cannot be opened or migrated
 */
export function openWriting(
  { maxPages, migrates, ...options }: Omit<WriterOptions, 'companions'>,
  onRecovered?: (db: Database) => void,
): Database {
  const db = openAnySchema(options, onRecovered);
  try {
    migrate(db, readMigrations(new URL('./migrations/', import.meta.url)), { migrates });
    if (maxPages !== null) db.pragma(`max_page_count = ${String(maxPages)}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a writing connection to a database whose schema may be of any version.
 * @param onRecovered called after SQLite has recovered the write-ahead log, before anything is written
 * @throws SchemaVersionError when it is one of another program
 * @throws Error when the file is not the expected one or cannot be opened
 */
export function openAnySchema(
  { path, busyTimeoutMs, creates, identity }: Omit<WriterOptions, 'companions' | 'maxPages' | 'migrates'>,
  onRecovered: (db: Database) => void = () => undefined,
): Database {
  requireIdentity(path, identity);
  // A restarted thread must not create another database.
  prepareFile(path, { creates: creates && identity === undefined });
  const db = new SqliteDatabase(path, { timeout: busyTimeoutMs, fileMustExist: true });
  try {
    // Again: the file may have been replaced before it was opened.
    requireIdentity(path, identity);
    enterWal(db, busyTimeoutMs);
    onRecovered(db);
    leaveRemovedLog(db, path, identity !== undefined);
    // Not earlier: a read before this uses the log that was removed.
    requireOwn(db);
    makePrivate(path);
    // FULL: an acknowledged commit survives a power failure.
    db.pragma('synchronous = FULL');
    db.pragma('wal_autocheckpoint = 8000');
    db.pragma('foreign_keys = ON');
    // A branch copies rows of a table into the same table by way of a temporary one, for which there may be no disk.
    db.pragma('temp_store = MEMORY');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens a read-only connection. The file must have been opened for writing before. */
export function openReading(path: string): Database {
  return new SqliteDatabase(path, { readonly: true, fileMustExist: true, timeout: READER_BUSY_MS });
}

function requireIdentity(path: string, identity: string | undefined): void {
  if (identity !== undefined && identify(path) !== identity)
    throw new Error('the database file that was open no longer exists: put it back, or restart');
}

/** @throws SchemaVersionError for a database that has tables, but no schema of this program */
function requireOwn(db: Database): void {
  // One statement, because another process may be creating the schema.
  const isForeign = db
    .prepare('SELECT user_version = 0 AND EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version')
    .pluck()
    .get();
  if (isForeign === 1) throw new SchemaVersionError('foreign', 'it is a database of another program');
}

/**
 * Resets the index of the write-ahead log if it belongs to a removed log that another connection still has open. SQLite
 * would append to the new file after the frames of the removed one, without a header, and the next recovery would
 * discard all of it.
 * @param mayReset whether this process has saved the removed log before
 * @throws Error if it has not, and while another connection reads from the removed log
 */
function leaveRemovedLog(db: Database, path: string, mayReset: boolean): void {
  if (!isLogEmpty(path) || checkpoint(db, 'PASSIVE').pages === 0) return;
  // Another process may have written the first frames in between.
  if (!isLogEmpty(path)) return;
  if (!mayReset)
    throw new Error(
      'the write-ahead log was removed while another process used it: try again in a few seconds',
    );
  if (!checkpoint(db, 'TRUNCATE').isWhole)
    throw new Error('another connection, perhaps a backup, still reads the removed write-ahead log');
}

/**
 * Switches to WAL mode, and retries while the database is locked: SQLite's busy timeout does not apply to this switch
 * (https://sqlite.org/wal.html, "Sometimes Queries Return SQLITE_BUSY").
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
