import { chmodSync, closeSync, openSync, realpathSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';

/** Only the owner may read and write. */
const PRIVATE = 0o600;
const OTHERS = 0o077;

/**
 * Makes a database file that only its owner may read, before SQLite opens it; SQLite gives the log and its index the
 * same mode. Files of an existing database that others may read or write, as earlier versions left them, are closed to
 * them.
 * @throws Error when the file cannot be made
 */
export function makePrivate(database: string): void {
  makeFile(database);
  const real = realpathSync(database);
  for (const file of [real, `${real}-wal`, `${real}-shm`]) closeToOthers(file);
}

/**
 * Makes the file if there is none. One that is there is not opened: closing it would release SQLite's locks on it in
 * this process.
 */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', PRIVATE));
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
}

/** By its code alone: an error of Node's own realm is not always an instance of this realm's `Error`. */
function isExisting(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST';
}

/** Makes an empty file that only its owner may read; one that is there is removed. */
export async function makePrivateAnew(file: string): Promise<void> {
  await rm(file, { force: true });
  const made = await open(file, 'wx', PRIVATE);
  await made.close();
}

function closeToOthers(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  // Only the owner may do that; where the file belongs to somebody else, its mode is that owner's decision.
  if (process.getuid === undefined || (process.getuid() !== found.uid && process.getuid() !== 0)) return;
  chmodSync(file, PRIVATE);
}
