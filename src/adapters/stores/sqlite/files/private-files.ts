import { accessSync, closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { codeOf } from '../../../platform/node/error-code.js';
import { makeFolders } from '../../../platform/node/make-folders.js';
import { closeToOthers, PRIVATE } from '../../../platform/node/private-mode.js';
import { toFailure } from '../failure.js';

/**
 * Creates a database file with mode 0600 before SQLite opens it; SQLite gives the log and its index the same mode.
 * @param options `creates`: whether a missing database file is created
 * @throws Error when the file cannot be created, is missing, or is a folder or a device
 */
export function prepareFile(database: string, { creates }: { readonly creates: boolean }): void {
  if (creates) makeFile(database);
  if (!statSync(realpathSync(database)).isFile()) throw new Error('it is not a regular file');
}

/**
 * Removes the permissions of group and others from the files of a database: earlier versions left them. Only for what
 * SQLite has opened as a database: other programs could no longer use another file that a mistyped path names.
 */
export function makePrivate(database: string): void {
  const real = realpathSync(database);
  for (const file of [real, `${real}-wal`, `${real}-shm`]) closeToOthers(file);
}

/**
 * Checks that this process may write to a database file, if there is one. Without that right, SQLite opens the file for
 * reading alone.
 * @throws Error when it may not
 */
export function requireWritable(database: string): void {
  try {
    accessSync(database, constants.W_OK);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/**
 * Creates the file unless it exists. An existing file is not opened: closing it would release this process's SQLite
 * locks on it.
 */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', PRIVATE));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Returns which of a database's files, or their folder, this process may not read and write, with its owner and mode.
 * Undefined: none that it can see.
 */
export function explainDenied(database: string): string | undefined {
  let file = database;
  try {
    file = realpathSync(database);
  } catch {
    // The file is missing, or its folder is closed to this process.
  }
  const paths = [file, `${file}-wal`, `${file}-shm`, dirname(file)];
  return paths.map(describeDenied).find((denied) => denied !== undefined);
}

function describeDenied(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return undefined;
  }
  try {
    const { uid, gid, mode } = statSync(path);
    const owner = `uid ${String(uid)} and gid ${String(gid)} with mode ${(mode & 0o777).toString(8)}`;
    const own = `uid ${String(process.getuid?.())} and gid ${String(process.getgid?.())}`;
    return `${path} belongs to ${owner}, and this process has ${own}`;
  } catch {
    // Its folder is closed to this process.
    return undefined;
  }
}

/** Creates the folder of a database, for its owner alone. @throws StoreUnavailableError when it cannot be created */
export async function makeFolder(database: string): Promise<void> {
  await makeFolders(dirname(database)).catch((cause: unknown) => {
    const isFile = codeOf(cause) === 'EEXIST' || codeOf(cause) === 'ENOTDIR';
    const reason = isFile ? 'a file is in its place' : toFailure(cause, 'unavailable').message;
    throw new StoreUnavailableError(`cannot create the folder of the database ${database}: ${reason}`, {
      cause,
    });
  });
}

/** Creates an empty file that only its owner may read. @throws Error when the file exists or cannot be created */
export async function createPrivate(file: string): Promise<void> {
  const made = await open(file, 'wx', PRIVATE);
  await made.close();
}
