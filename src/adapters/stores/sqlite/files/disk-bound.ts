import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';

/** SQLite's page size, which the migrations leave at its default, in bytes. */
const PAGE_BYTES = 4096;
/** 32 MiB. A longer log makes fewer checkpoints, and a longer recovery after a crash. */
const MAX_LOG_PAGES = 8000;
/** 256 KiB. */
const MIN_LOG_PAGES = 64;
/** The log may take a quarter of what is free: copying it into the database can take as much again. */
const LOG_SHARE = 4;
/** The database leaves 1 MiB of the disk to the log, so that a full disk still takes deletions. */
const RESERVED_BYTES = 1_048_576;
/** With more free space than this the database may grow without a bound. */
const PLENTY_BYTES = 64 * 1_048_576;
/** The largest value of `PRAGMA max_page_count`. */
const UNBOUNDED_PAGES = 4_294_967_294;

/** How full a disk is. */
export interface Disk {
  readonly freeBytes: number;
  /** Size of the database file. */
  readonly databaseBytes: number;
}

/**
 * Bounds the write-ahead log and the database by the free space of their disk. SQLite by itself fills a small disk with
 * the log, and then has no room left to copy the log into the database.
 */
export class DiskBound {
  readonly #db: Database;
  readonly #disk: () => Disk;
  readonly #maxPages: number;
  #logPages: number | undefined;
  #pages: number | undefined;

  /** @param maxPages how large the database may grow in any case, in pages; null: as far as the disk goes */
  constructor(db: Database, disk: () => Disk, maxPages: number | null) {
    this.#db = db;
    this.#disk = disk;
    this.#maxPages = maxPages ?? UNBOUNDED_PAGES;
  }

  /** Sets after how many pages a commit copies the log into the database, and how large both may grow. Never throws. */
  adjust(): void {
    try {
      this.#adjust();
    } catch {
      // The bounds stay what they are; a write that follows fails by itself and says why.
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
      // SQLite takes the present size where that is larger.
      this.#db.pragma(`max_page_count = ${String(pages)}`);
    }
  }

  /** Copies the log into the database without waiting for readers. Returns whether that freed the log's room. */
  makeRoom(): boolean {
    try {
      const { pages, isWhole } = checkpoint(this.#db, 'PASSIVE');
      this.adjust();
      return isWhole && pages > 0;
    } catch {
      // The database itself has no room to grow.
      return false;
    }
  }
}

/**
 * Copies the write-ahead log into the database file.
 * @param mode `PASSIVE` copies what it can without waiting, `FULL` waits for readers and writers
 * @returns how many pages the log had, and whether all of them were copied
 * @throws SqliteError when the database cannot be written
 */
export function checkpoint(db: Database, mode: 'PASSIVE' | 'FULL'): { pages: number; isWhole: boolean } {
  const rows: unknown = db.pragma(`wal_checkpoint(${mode})`);
  const done: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (
    typeof done !== 'object' ||
    done === null ||
    !('busy' in done && 'log' in done && 'checkpointed' in done)
  )
    throw new Error('wal_checkpoint gave no result');
  return { pages: Number(done.log), isWhole: done.busy === 0 && done.log === done.checkpointed };
}

/** The disk of a database; with infinite room where the file system does not say. */
export function diskOf(file: string): Disk {
  const { blocks, bavail, bsize } = statfsSync(dirname(file));
  const databaseBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return { freeBytes: blocks === 0 ? Infinity : bavail * bsize, databaseBytes };
}

/** Powers of two below the maximum, so that the bound seldom changes. */
function logPagesFor({ freeBytes }: Disk): number {
  const pages = freeBytes / LOG_SHARE / PAGE_BYTES;
  if (pages >= MAX_LOG_PAGES) return MAX_LOG_PAGES;
  return Math.max(MIN_LOG_PAGES, 2 ** Math.floor(Math.log2(Math.max(1, pages))));
}

function pagesFor({ freeBytes, databaseBytes }: Disk): number {
  if (freeBytes > PLENTY_BYTES) return UNBOUNDED_PAGES;
  return Math.max(1, Math.floor((databaseBytes + freeBytes - RESERVED_BYTES) / PAGE_BYTES));
}
