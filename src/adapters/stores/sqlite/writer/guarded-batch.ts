import type { Database } from 'better-sqlite3';
import type { Outcome } from './batch.js';
import { checkpoint } from '../files/disk-bound.js';
import { toFailure, type Failure } from '../failure.js';
import type { OpenFiles } from '../files/open-files.js';
import type { Call } from '../steps.js';

/** The parts of a guarded batch. */
export interface Guarded {
  readonly db: Database;
  readonly files: Pick<OpenFiles, 'check'>;
  /** Runs steps in one transaction. */
  readonly runBatch: (calls: readonly Call[]) => Outcome[];
  /** Opens a connection to the database at its path, and reads from it. */
  readonly openOther: () => Pick<Database, 'close'>;
  /** Called once, when the database must be reopened because its log was removed or replaced. */
  readonly onLogLost: (failure: Failure) => void;
}

/**
 * Runs batches of steps. A batch succeeds only if the database's files are in place before it and after its commit.
 */
export class GuardedBatch {
  readonly #parts: Guarded;
  #lost: Failure | undefined;
  #isForked = false;

  constructor(parts: Guarded) {
    this.#parts = parts;
  }

  /** Runs steps. When a file is missing or replaced, all of them fail as unavailable, even if they were committed. */
  run(calls: readonly Call[]): Outcome[] {
    // Also checks before the batch, so that failed writes do not reappear when a moved file is put back.
    const failure = this.check();
    if (failure !== undefined) return calls.map(() => ({ failure }));
    const outcomes = this.#parts.runBatch(calls);
    const late = this.check();
    return late === undefined ? outcomes : calls.map(() => ({ failure: late }));
  }

  /**
   * Checks the files. If only the log was removed, checkpoints it into the database file.
   * @returns why writes are not allowed; undefined: the files are in place
   */
  check(): Failure | undefined {
    if (this.#lost !== undefined) return this.#lost;
    const state = this.#parts.files.check();
    if (state.kind === 'in_place') return undefined;
    const failure = toFailure(new Error(state.message), 'unavailable');
    // A checkpoint of the removed log could undo what another process has written to a new one.
    const isSaved = state.kind !== 'log_removed' || this.#saveLog();
    if (isSaved && state.kind !== 'moved') {
      this.#isForked = state.kind === 'forked';
      this.#lost = failure;
      this.#parts.onLogLost(failure);
    }
    return failure;
  }

  /**
   * Closes the database. The last connection to a database checkpoints the log when it is closed: it would read the
   * removed log by the index of a new one, and overwrite the database with the wrong pages. So another connection is
   * open during that, except when the index was removed with the log.
   */
  close(): void {
    const other = this.#lost === undefined || this.#isForked ? undefined : this.#parts.openOther();
    try {
      this.#parts.db.close();
    } finally {
      other?.close();
    }
  }

  /** Checkpoints the removed log, which is still open here. Returns whether all of it was copied. */
  #saveLog(): boolean {
    try {
      return checkpoint(this.#parts.db, 'FULL').isWhole;
    } catch {
      // The next check retries.
      return false;
    }
  }
}
