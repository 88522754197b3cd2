import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { syncFolder } from '../../platform/node/sync-folder.js';
import { openAnySchema, openReading } from './connections.js';
import { copyError, guarded } from './failure.js';
import { requireSound } from './files/damage.js';
import { reportMissing } from './files/missing-data.js';
import { OpenFiles } from './files/open-files.js';
import { createPrivate } from './files/private-files.js';

/** Pages that are copied per step, before the event loop continues: 2 MiB. */
const PAGES_A_STEP = 512;
const ANY_READ = 'SELECT count(*) FROM sqlite_schema';
/** How long opening waits for another process's lock on the database, in milliseconds. */
const BUSY_MS = 5000;

/** Options for a backup. */
export interface BackupOptions {
  /** Files that a service creates beside its database, see `SqliteOptions`. */
  readonly companions?: readonly string[];
  /** Called before the copy with data that was found missing, as messages for the operator. */
  readonly onMissing?: (missing: readonly string[]) => void;
  /** Called after each step with the copied share, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Stops the copy, which then leaves no file. */
  readonly signal?: AbortSignal;
}

/**
 * Copies a consistent snapshot of a database, which may be in use, and whose schema may be of any version. Nothing is
 * at `to` before the copy is complete; a copy that is killed leaves `to` with `.part` and random letters. Checks the
 * whole database synchronously, before the copy begins.
 * @param to path of the copy
 * @throws StoreUnavailableError when the database is damaged or locked, or the disk with the copy is full
 * @throws Error when `to` exists or cannot be created; the signal's reason
 */
export async function backupDatabase(from: string, to: string, options: BackupOptions = {}): Promise<void> {
  const { signal, onProgress } = options;
  if (existsSync(to)) throw new Error(`cannot create the backup ${to}: the file exists`);
  const { db, files } = guarded(() => openSnapshot(from, options));
  try {
    // A copy with damaged pages could replace an older, intact backup.
    requireSound(db);
    // The caller gets its promise first, and can listen for signals before there is anything to remove.
    await Promise.resolve();
    // A name of its own: another backup to the same path must not write to the same file.
    const part = `${to}.part-${randomBytes(4).toString('hex')}`;
    await createPrivate(part).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`cannot create the backup ${to}: ${reason}`, { cause });
    });
    try {
      await copy(db, files, part, (share) => {
        signal?.throwIfAborted();
        onProgress?.(share);
      });
      signal?.throwIfAborted();
      await publish(part, to);
    } catch (error) {
      await rm(part, { force: true });
      throw copyError(error, to, 'so there is none');
    }
  } finally {
    db.close();
  }
}

/**
 * Opens a connection with an open transaction: without it, every write during the copy would restart the
 * copy. Opens another one for writing before it, because only that recovers the log, and closes it while the first is
 * open: the last writing connection checkpoints the log when it is closed, which must not happen after a loss of files.
 */
function openSnapshot(
  path: string,
  { companions = [], onMissing = () => undefined }: BackupOptions,
): Snapshot {
  const report = reportMissing(path, companions, onMissing);
  const writing = openAnySchema({ path, busyTimeoutMs: BUSY_MS, creates: false }, report);
  try {
    // The first read creates the log. A file that is replaced from here on is found during the copy.
    writing.prepare(ANY_READ).get();
    const files = new OpenFiles(path);
    const db = openReading(path);
    db.exec('BEGIN');
    db.prepare(ANY_READ).get();
    return { db, files };
  } finally {
    writing.close();
  }
}

/** A read-only connection with an open transaction, and the files that were open when it began. */
interface Snapshot {
  readonly db: Database;
  readonly files: OpenFiles;
}

async function copy(
  db: Database,
  files: OpenFiles,
  to: string,
  onProgress: (share: number) => void,
): Promise<void> {
  await db.backup(to, {
    progress: ({ totalPages, remainingPages }) => {
      requireInPlace(files);
      onProgress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
      return PAGES_A_STEP;
    },
  });
  requireInPlace(files);
}

/** Without its files, the read transaction does not keep other processes from writing to the pages that it copies. */
function requireInPlace(files: OpenFiles): void {
  const state = files.check();
  if (state.kind !== 'in_place') throw new Error(`cannot complete the backup: ${state.message}`);
}

/** Gives a complete copy its name, at once and durably. Unlike `rename` alone, it does not replace a file. */
async function publish(part: string, to: string): Promise<void> {
  try {
    await link(part, to);
  } catch {
    // The file exists, or its file system has no hard links.
    await createPrivate(to).catch((cause: unknown) => {
      throw new Error(`cannot create the backup ${to}: another program created the file`, { cause });
    });
    await rename(part, to);
  }
  await rm(part, { force: true });
  await syncFolder(dirname(to));
}
