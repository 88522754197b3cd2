import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns the path of a database's write-ahead log. SQLite creates it beside the target of a symbolic link. */
export function logOf(database: string): string {
  return `${realpathSync(database)}-wal`;
}

/** Returns the path of the index of a database's write-ahead log. */
export function indexOf(database: string): string {
  return `${realpathSync(database)}-shm`;
}

/** Returns the folder of a database's files: that of the target, if its path is a symbolic link. */
export function folderOf(database: string): string {
  try {
    return dirname(realpathSync(database));
  } catch {
    // The file is missing.
    return dirname(database);
  }
}

/** Returns whether there is no file at a path. False for one that cannot be looked at, such as in a closed folder. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Returns the size of a file in bytes; 0 when there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns whether the write-ahead log of a database contains nothing, or does not exist. */
export function isLogEmpty(database: string): boolean {
  return sizeOf(logOf(database)) === 0;
}
