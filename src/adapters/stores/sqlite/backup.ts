import { open, rename, rm } from 'node:fs/promises';
import { openReading } from './connections.js';
import { makePrivateAnew } from './files/private-files.js';

/** Pages that are copied before other work gets its turn: 2 MiB. */
const PAGES_A_STEP = 512;

/**
 * Copies a database that is in use, as it is at this moment.
 * @param to where the copy goes; it appears there once it is whole
 * @param onProgress told after each step what share of the whole is copied, 0 to 1
 * @throws Error when there is a file already
 */
export async function backupDatabase(
  from: string,
  to: string,
  onProgress: (share: number) => void = () => undefined,
): Promise<void> {
  // Taken first, so that two backups cannot both believe that the name is free.
  const reserved = await open(to, 'wx', 0o600).catch((cause: unknown) => {
    throw new Error(`cannot make the backup ${to}: is there a file already?`, { cause });
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
    // A transaction of its own: else every write during the copy would make it begin anew.
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
