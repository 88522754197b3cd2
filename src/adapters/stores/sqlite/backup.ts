import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { openReading } from './connections.js';
import { OpenFiles } from './files/open-files.js';
import { createPrivate } from './files/private-files.js';

/** Pages that are copied per step, before the event loop continues: 2 MiB. */
const PAGES_A_STEP = 512;

/**
 * Copies a consistent snapshot of a database that is in use. Nothing is at `to` before the copy is complete; a copy
 * that is killed leaves `to` with `.part` and random letters.
 * @param to path of the copy
 * @param onProgress called after each step with the copied share, 0 to 1
 * @param signal stops the copy, which then leaves no file
 * @throws Error when the file already exists; the signal's reason
 */
export async function backupDatabase(
  from: string,
  to: string,
  onProgress: (share: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<void> {
  if (existsSync(to)) throw new Error(`cannot create the backup ${to}: the file exists`);
  // A name of its own: another backup to the same path must not write to the same file.
  const part = `${to}.part-${randomBytes(4).toString('hex')}`;
  await createPrivate(part).catch((cause: unknown) => {
    throw new Error(`cannot create the backup ${to}`, { cause });
  });
  try {
    await copy(from, part, (share) => {
      signal?.throwIfAborted();
      onProgress(share);
    });
    signal?.throwIfAborted();
    await publish(part, to);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Renames a complete copy; unlike `rename` alone, it does not replace a file. */
async function publish(part: string, to: string): Promise<void> {
  await createPrivate(to).catch((cause: unknown) => {
    throw new Error(`cannot create the backup ${to}: another program created the file`, { cause });
  });
  await rename(part, to);
}

async function copy(from: string, to: string, onProgress: (share: number) => void): Promise<void> {
  const db = openReading(from);
  try {
    // An open read transaction: without it, every write during the copy would restart the copy.
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    const files = new OpenFiles(from);
    await db.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        requireInPlace(files);
        onProgress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
        return PAGES_A_STEP;
      },
    });
    requireInPlace(files);
  } finally {
    db.close();
  }
}

/** Without its files, the read transaction does not keep other processes from writing to the pages that it copies. */
function requireInPlace(files: OpenFiles): void {
  const state = files.check();
  if (state.kind !== 'in_place') throw new Error(`cannot complete the backup: ${state.message}`);
}
