import { realpathSync, statSync } from 'node:fs';

/** Whether the files at the paths of a database are still the ones that are open. */
export type FilesState =
  | { readonly kind: 'in_place' }
  /** The database file is in place, but its write-ahead log or the log's index is not. */
  | { readonly kind: 'log_removed' | 'log_replaced'; readonly message: string }
  | { readonly kind: 'moved'; readonly message: string };

/**
 * Watches the files of an open database: the database, its write-ahead log (`-wal`) and the log's index (`-shm`).
 * SQLite keeps writing to a file that was moved or removed, and those writes are lost at the next start.
 */
export class OpenFiles {
  readonly #database: string;
  /** Identity of the database file, see `identify`. */
  readonly identity: string | undefined;
  readonly #log: readonly { readonly path: string; readonly opened: string | undefined }[];

  /** @param database path of a database that is open in WAL mode and was read at least once, so that the log exists */
  constructor(database: string) {
    // SQLite creates the log beside the target of a symbolic link.
    const real = realpathSync(database);
    this.#database = database;
    this.identity = identify(database);
    this.#log = [`${real}-wal`, `${real}-shm`].map((path) => ({ path, opened: identify(path) }));
  }

  /** Compares the files at the paths with those that were opened. Never throws. */
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
      const message = `another file is at ${this.#database}: put back the file that was open, or restart`;
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

/** Returns the identity of the file at a path, its device and inode; undefined when there is no file. */
export function identify(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${String(found.dev)}:${String(found.ino)}`;
}
