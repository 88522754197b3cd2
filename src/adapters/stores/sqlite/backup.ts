import { open, rename, rm } from 'node:fs/promises';
import { openReading } from './connections.js';
import { makePrivateAnew } from './files/private-files.js';

/** Pages that are copied per step, before the event loop continues: 2 MiB. */
const PAGES_A_STEP = 512;

/**
 * Copies a consistent snapshot of a database that is in use.
 * @param to path of the copy: an empty file until the copy is complete
 * @param onProgress called after each step with the copied share, 0 to 1
 * @throws Error when the file already exists
 */
export async function backupDatabase(
  from: string,
  to: string,
  onProgress: (share: number) => void = () => undefined,
): Promise<void> {
  // Reserves the name first, so that two concurrent backups cannot both use it.
  const reserved = await open(to, 'wx', 0o600).catch((cause: unknown) => {
    throw new Error(`cannot create the backup ${to}: does the file already exist?`, { cause });
  });
  await reserved.close();
  const part = `${to}.part`;
  try {
    await makePrivateAnew(part);
    await copy(from, part, onProgress);
    await rename(part, to);
  } catch (error) {
    await rm(part, { force: true });
    await rm(to, { force: true });
    throw error;
  }
}

async function copy(from: string, to: string, onProgress: (share: number) => void): Promise<void> {
  const db = openReading(from);
  try {
    // An open read transaction: without it, every write during the copy would restart the copy.
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    await db.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
        return PAGES_A_STEP;
      },
    });
  } finally {
    db.close();
  }
}
