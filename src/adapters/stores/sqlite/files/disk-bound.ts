import { statfsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { folderOf, sizeOf } from './database-files.js';

/** SQLite's default page size, in bytes. */
const PAGE_BYTES = 4096;
/** 32 MiB. A longer log needs fewer checkpoints, but a longer recovery after a crash. */
const MAX_LOG_PAGES = 8000;
/** 256 KiB. */
const MIN_LOG_PAGES = 64;
/** The log may use a quarter of the free space: a checkpoint may grow the database by as much again. */
const LOG_SHARE = 4;
/** 1 MiB of the disk is reserved for the log, so that deletions still succeed on a full disk. */
const RESERVED_BYTES = 1_048_576;
/** Above 64 MiB of free space the database size is not limited. */
const PLENTY_BYTES = 64 * 1_048_576;
/** The largest value of `PRAGMA max_page_count`. */
const UNBOUNDED_PAGES = 4_294_967_294;

/** The free space of a disk, and what the database uses of it. */
export interface Disk {
  readonly freeBytes: number;
  /** Size of the database file. */
  readonly databaseBytes: number;
}

/**
 * Limits the write-ahead log and the database according to the free space of their disk. Without limits, SQLite fills a
 * small disk with the log and then has no space to checkpoint it into the database.
 */
export class DiskBound {
  readonly #db: Database;
  readonly #disk: () => Disk;
  readonly #maxPages: number;
  #logPages: number | undefined;
  #pages: number | undefined;

  /** @param maxPages configured maximum size of the database, in pages; null: limited only by the disk */
  constructor(db: Database, disk: () => Disk, maxPages: number | null) {
    this.#db = db;
    this.#disk = disk;
    this.#maxPages = maxPages ?? UNBOUNDED_PAGES;
  }

  /** Sets the checkpoint interval and the size limits of log and database from the free space. Never throws. */
  adjust(): void {
    try {
      this.#adjust();
    } catch {
      // The limits stay as they are; the next write reports the error.
    }
  }

  #adjust(): void {
    const disk = this.#disk();
    const logPages = logPagesFor(disk);
    if (logPages !== this.#logPages) {
      this.#logPages = logPages;
      this.#db.pragma(`wal_autocheckpoint = ${String(logPages)}`);
      this.#db.pragma(`journal_size_limit = ${String(logPages * PAGE_BYTES)}`);
    }
    const pages = Math.min(this.#maxPages, pagesFor(disk));
    if (pages !== this.#pages) {
      this.#pages = pages;
      // SQLite uses the current size if it is larger.
      this.#db.pragma(`max_page_count = ${String(pages)}`);
    }
  }

  /** Checkpoints the log without waiting for readers. Returns whether the space of the log can be reused now. */
  makeRoom(): boolean {
    try {
      const { pages, isWhole } = checkpoint(this.#db, 'PASSIVE');
      this.adjust();
      return isWhole && pages > 0;
    } catch {
      // The database has no space to grow.
      return false;
    }
  }
}

/**
 * Checkpoints the write-ahead log into the database file.
 * @param mode `PASSIVE` copies what it can without waiting, `FULL` waits for readers and writers, `TRUNCATE` also until
 *   no connection reads from the log, and empties it
 * @returns the number of pages in the log, and whether all of them were copied
 * @throws SqliteError when the database cannot be written
 */
export function checkpoint(
  db: Database,
  mode: 'PASSIVE' | 'FULL' | 'TRUNCATE',
): { pages: number; isWhole: boolean } {
  const rows: unknown = db.pragma(`wal_checkpoint(${mode})`);
  const done: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (
    typeof done !== 'object' ||
    done === null ||
    !('busy' in done && 'log' in done && 'checkpointed' in done)
  )
    throw new Error('wal_checkpoint returned no result');
  return { pages: Number(done.log), isWhole: done.busy === 0 && done.log === done.checkpointed };
}

/** Measures the disk of a database. Free space is infinite if the file system does not report its size. */
export function diskOf(file: string): Disk {
  const { blocks, bavail, bsize } = statfsSync(folderOf(file));
  return { freeBytes: blocks === 0 ? Infinity : bavail * bsize, databaseBytes: sizeOf(file) };
}

/** Rounds down to a power of two, so that the limit changes rarely. */
function logPagesFor({ freeBytes }: Disk): number {
  const pages = freeBytes / LOG_SHARE / PAGE_BYTES;
  if (pages >= MAX_LOG_PAGES) return MAX_LOG_PAGES;
  return Math.max(MIN_LOG_PAGES, 2 ** Math.floor(Math.log2(Math.max(1, pages))));
}

function pagesFor({ freeBytes, databaseBytes }: Disk): number {
  if (freeBytes > PLENTY_BYTES) return UNBOUNDED_PAGES;
  return Math.max(1, Math.floor((databaseBytes + freeBytes - RESERVED_BYTES) / PAGE_BYTES));
}
