import { realpathSync, statSync } from 'node:fs';

/** Whether the files of an open database are the ones at their paths. */
export type FilesState =
  | { readonly kind: 'in_place' }
  /** The database is in place, its write-ahead log or the log's index is not. */
  | { readonly kind: 'log_removed' | 'log_replaced'; readonly message: string }
  | { readonly kind: 'moved'; readonly message: string };

/**
 * The files of an open database: the database itself, its write-ahead log (`-wal`) and the index of that log (`-shm`).
 * SQLite keeps writing to a file that was moved or removed, and what it writes there is missing after the next start.
 */
export class OpenFiles {
  readonly #database: string;
  /** What distinguishes the database file from every other one. */
  readonly identity: string | undefined;
  readonly #log: readonly { readonly path: string; readonly opened: string | undefined }[];

  /**
   * @param database the path of a database that SQLite has open in WAL mode, and that was read once, so that the log
   * exists
   */
  constructor(database: string) {
    // SQLite puts the log beside the file that a link leads to.
    const real = realpathSync(database);
    this.#database = database;
    this.identity = identify(database);
    this.#log = [`${real}-wal`, `${real}-shm`].map((path) => ({ path, opened: identify(path) }));
  }

  /** Compares the files at the paths with those that were opened: three calls of `stat`. Never throws. */
  check(): FilesState {
    try {
      return this.#check();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'moved', message: `the database file ${this.#database} cannot be found: ${reason}` };
    }
  }

  #check(): FilesState {
    const found = identify(this.#database);
    if (found === undefined) {
      return {
        kind: 'moved',
        message: `the database file ${this.#database} is gone: put it back, or restore a backup and restart`,
      };
    }
    if (found !== this.identity) {
      const message = `another file is at ${this.#database} than the one that is open: put that one back, or restart`;
      return { kind: 'moved', message };
    }
    for (const { path, opened } of this.#log) {
      const now = identify(path);
      if (now === undefined)
        return { kind: 'log_removed', message: `${path} was removed while it was in use` };
      if (now !== opened)
        return { kind: 'log_replaced', message: `${path} was replaced while it was in use` };
    }
    return { kind: 'in_place' };
  }
}

/**
 * What distinguishes the file at a path from every other one: its device and inode; undefined where there is no file.
 */
export function identify(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${String(found.dev)}:${String(found.ino)}`;
}
