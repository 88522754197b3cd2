import { chmodSync, statSync } from 'node:fs';

/** File mode: only the owner may read and write. */
export const PRIVATE = 0o600;
const OTHERS = 0o077;

/** Removes the permissions of group and others from a file, if it exists and this process may do so. */
export function closeToOthers(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  // Only the file's owner and root may change its mode.
  if (process.getuid === undefined || (process.getuid() !== found.uid && process.getuid() !== 0)) return;
  chmodSync(file, PRIVATE);
}
