import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './error-code.js';

/** Folder mode: only the owner may list, read and write. */
const PRIVATE = 0o700;

/**
 * Creates a folder and the missing ones above it, for their owner alone. Not by the recursive `mkdir`: in a file system
 * that takes no folders, such as /proc, that of Node 20 never returns.
 * @throws Error when one of them cannot be created
 */
export async function makeFolders(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const above = dirname(folder);
    if (above === folder || codeOf(error) !== 'ENOENT') throw error;
    await makeFolders(above);
    await makeFolder(folder);
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: PRIVATE });
  } catch (error) {
    if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
