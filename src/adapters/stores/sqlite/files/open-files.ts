import { statSync } from 'node:fs';
import { indexOf, logOf, sizeOf } from './database-files.js';

/** Whether the files at the paths of a database are still the ones that are open. */
export type FilesState =
  | { readonly kind: 'in_place' }
  /** The write-ahead log or its index is not in place, and nothing was written to a new log. */
  | { readonly kind: 'log_removed'; readonly message: string }
  /** Another process has created a new log or a new index, and may have written to the log. */
  | { readonly kind: 'log_replaced'; readonly message: string }
  /** Another process has created both: it does not see the writes in the removed log. */
  | { readonly kind: 'forked'; readonly message: string }
  | { readonly kind: 'moved'; readonly message: string };

const COPY_FIRST =
  'do not stop the process before you have copied its open files, see "A SQLite file that was removed" in docs/runbook.md';

/** A file at its path as it was when it was opened. */
interface OpenFile {
  readonly path: string;
  /** See `identify`. */
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
    this.#index = openFile(indexOf(database));
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
        message: `the database file ${this.#database} is gone: put it back; ${COPY_FIRST}`,
      };
    }
    if (found !== this.identity) {
      const message = `another file is at ${this.#database}: put back the file that was open; ${COPY_FIRST}`;
      return { kind: 'moved', message };
    }
    const log = stateOf(this.#log);
    const index = stateOf(this.#index);
    if (log === 'replaced' && index === 'replaced') return lost('forked', this.#log, log);
    // A process that opened the database after the removal created an empty log, and has not written to it.
    if (log === 'replaced' && sizeOf(this.#log.path) > 0) return lost('log_replaced', this.#log, log);
    if (index === 'replaced') return lost('log_replaced', this.#index, index);
    if (log !== 'in place') return lost('log_removed', this.#log, 'removed');
    return index === 'in place' ? { kind: 'in_place' } : lost('log_removed', this.#index, index);
  }
}

/** Returns the identity of the file at a path, its device and inode; undefined when there is no file. */
export function identify(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${String(found.dev)}:${String(found.ino)}`;
}

function openFile(path: string): OpenFile {
  return { path, opened: identify(path) };
}

function stateOf({ path, opened }: OpenFile): 'in place' | 'removed' | 'replaced' {
  const found = identify(path);
  if (found === undefined) return 'removed';
  return found === opened ? 'in place' : 'replaced';
}

function lost(
  kind: 'log_removed' | 'log_replaced' | 'forked',
  { path }: OpenFile,
  how: 'removed' | 'replaced',
): FilesState {
  return { kind, message: `${path} was ${how} while it was in use` };
}
