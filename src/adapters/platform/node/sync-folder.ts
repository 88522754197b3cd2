import { open } from 'node:fs/promises';

/** Makes the names of files in a folder survive a power failure, where the file system can. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path);
    await folder.sync().finally(() => folder.close());
  } catch {
    // Some file systems, and Windows, cannot synchronize folders.
  }
}
