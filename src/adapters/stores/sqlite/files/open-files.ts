import { realpathSync, statSync } from 'node:fs';

/** Whether the files at the paths of a database are still the ones that are open. */
export type FilesState =
  | { readonly kind: 'in_place' }
  /** The database file is in place, but its write-ahead log or the log's index is not, and no process uses a new one. */
  | { readonly kind: 'log_removed'; readonly message: string }
  /** Another process has opened the database since, and may have written to a new log. */
  | { readonly kind: 'log_replaced'; readonly message: string }
  | { readonly kind: 'moved'; readonly message: string };

/** A file at its path as it was when it was opened. */
interface OpenFile {
  readonly path: string;
  readonly opened: string | undefined;
}

/**
 * Watches the files of an open database: the database, its write-ahead log (`-wal`) and the log's index (`-shm`).
 * SQLite keeps writing to a file that was moved or removed, and those writes are lost at the next start.
 */
export class OpenFiles {
  readonly #database: string;
  /** Identity of the database file, see `identify`. */
  readonly identity: string | undefined;
  readonly #log: OpenFile;
  readonly #index: OpenFile;

  /** @param database path of a database that is open in WAL mode and was read at least once, so that the log exists */
  constructor(database: string) {
    this.#database = database;
    this.identity = identify(database);
    this.#log = openFile(logOf(database));
    this.#index = openFile(`${realpathSync(database)}-shm`);
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
    const log = identify(this.#log.path);
    // A process that opened the database after the removal created an empty log, and has not written to it.
    if (log !== undefined && log !== this.#log.opened && sizeOf(this.#log.path) > 0)
      return lost(this.#log, 'replaced');
    const index = identify(this.#index.path);
    if (index !== this.#index.opened) return lost(this.#index, index === undefined ? 'removed' : 'replaced');
    return log === this.#log.opened ? { kind: 'in_place' } : lost(this.#log, 'removed');
  }
}

/** Returns whether the write-ahead log of a database contains nothing, or does not exist. */
export function isLogEmpty(database: string): boolean {
  return sizeOf(logOf(database)) === 0;
}

/** Returns the identity of the file at a path, its device and inode; undefined when there is no file. */
export function identify(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${String(found.dev)}:${String(found.ino)}`;
}

/** SQLite creates the log beside the target of a symbolic link. */
function logOf(database: string): string {
  return `${realpathSync(database)}-wal`;
}

function openFile(path: string): OpenFile {
  return { path, opened: identify(path) };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function lost({ path }: OpenFile, how: 'removed' | 'replaced'): FilesState {
  return { kind: `log_${how}`, message: `${path} was ${how} while it was in use` };
}
