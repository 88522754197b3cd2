import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreUnavailableError } from '../../core/store.js';

/** With less than this a message soon fails, though a probe, which writes a few bytes, may not. */
const MIN_FREE_BYTES = 1_048_576;

/** What tells a file from any other. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Sees whether the file of an open database is still the one at its path, and has room to grow. A file that was moved or removed takes
 * writes as before, and nobody finds them after the next start.
 */
export class FileCheck {
  private constructor(
    private readonly file: string,
    private readonly opened: Identity,
    private readonly freeBytes: (folder: string) => Promise<number>,
  ) {}

  /** @param file an open database; `freeBytes`: how much more a folder takes */
  static async of(file: string, freeBytes = freeBytesOf): Promise<FileCheck> {
    return new FileCheck(file, await stat(file, { bigint: true }), freeBytes);
  }

  /** @throws StoreUnavailableError when it is not so */
  async check(): Promise<void> {
    const found = await stat(this.file, { bigint: true }).catch((cause: unknown) => {
      throw new StoreUnavailableError(`the database file ${this.file} is gone`, { cause });
    });
    if (found.ino !== this.opened.ino || found.dev !== this.opened.dev)
      throw new StoreUnavailableError(`another file is at ${this.file} than the one that is open: restart`);
    if ((await this.freeBytes(dirname(this.file))) < MIN_FREE_BYTES)
      throw new StoreUnavailableError(`the disk with ${this.file} is full`);
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  const { blocks, bavail, bsize } = await statfs(folder);
  // Some file systems do not say.
  return blocks === 0 ? Infinity : bavail * bsize;
}
