import { statfs } from 'node:fs/promises';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { folderOf } from './database-files.js';

/** With less free space than this, writes soon fail, although the small write of a probe may still succeed. */
const MIN_FREE_BYTES = 1_048_576;

/**
 * Checks that the disk of a database has at least 1 MiB of free space.
 * @param freeBytes returns the free bytes of a folder's file system
 * @throws StoreUnavailableError when less than 1 MiB is free
 */
export async function requireFreeSpace(file: string, freeBytes = freeBytesOf): Promise<void> {
  if ((await freeBytes(folderOf(file))) < MIN_FREE_BYTES)
    throw new StoreUnavailableError(`the disk with ${file} is full`);
}

async function freeBytesOf(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // Some file systems report no size.
  return blocks === 0 ? Infinity : bavail * bsize;
}
