import { chmodSync, closeSync, openSync, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** File mode: only the owner may read and write. */
const PRIVATE = 0o600;
const OTHERS = 0o077;

/**
 * Creates a database file with mode 0600 before SQLite opens it; SQLite gives the log and its index the same mode.
 * Removes the permissions of group and others from the files of an existing database: earlier versions left them.
 * @param options `creates`: whether a missing database file is created
 * @throws Error when the file cannot be created, or is missing
 */
export function makePrivate(database: string, { creates }: { readonly creates: boolean }): void {
  if (creates) makeFile(database);
  const real = realpathSync(database);
  for (const file of [real, `${real}-wal`, `${real}-shm`]) closeToOthers(file);
}

/**
 * Creates the file unless it exists. An existing file is not opened: closing it would release this process's SQLite
 * locks on it.
 */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', PRIVATE));
  } catch (error) {
    if (!isExisting(error)) throw error;
  }
}

/** Checks the code alone: an error from another realm is not an instance of this realm's `Error`. */
function isExisting(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST';
}

/** Creates an empty file that only its owner may read. @throws Error when the file exists or cannot be created */
export async function createPrivate(file: string): Promise<void> {
  const made = await open(file, 'wx', PRIVATE);
  await made.close();
}

function closeToOthers(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  // Only the file's owner and root may change its mode.
  if (process.getuid === undefined || (process.getuid() !== found.uid && process.getuid() !== 0)) return;
  chmodSync(file, PRIVATE);
}
