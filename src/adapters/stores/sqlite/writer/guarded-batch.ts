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
  /** Called once, when the database must be closed and opened again because its log was removed or replaced. */
  readonly onLogLost: (failure: Failure) => void;
}

/**
 * Runs batches of steps, and confirms a batch only if the database's files were in place before it and still are after
 * its commit.
 */
export class GuardedBatch {
  readonly #parts: Guarded;
  #lost: Failure | undefined;

  constructor(parts: Guarded) {
    this.#parts = parts;
  }

  /** Runs steps. When a file is missing, all of them fail as unavailable, and what was committed is not confirmed. */
  run(calls: readonly Call[]): Outcome[] {
    // Before the batch too: what fails should not be found stored when a moved file comes back.
    const failure = this.check();
    if (failure !== undefined) return calls.map(() => ({ failure }));
    const outcomes = this.#parts.runBatch(calls);
    const late = this.check();
    return late === undefined ? outcomes : calls.map(() => ({ failure: late }));
  }

  /**
   * Checks the files. When only the log was removed, copies what it holds into the database file at once.
   * @returns why nothing may be written; undefined: the files are in place
   */
  check(): Failure | undefined {
    if (this.#lost !== undefined) return this.#lost;
    const state = this.#parts.files.check();
    if (state.kind === 'in_place') return undefined;
    const failure = toFailure(new Error(state.message), 'unavailable');
    // A replaced log is one that another process has opened since and may have written to: copying ours could undo
    // that. Closing copies
    // it if no other process has the database open.
    const isSafe = state.kind === 'log_replaced' || (state.kind === 'log_removed' && this.#saveLog());
    if (isSafe) {
      this.#lost = failure;
      this.#parts.onLogLost(failure);
    }
    return failure;
  }

  /** Copies the removed log, which is still open here, into the database file. Returns whether all of it was copied. */
  #saveLog(): boolean {
    try {
      return checkpoint(this.#parts.db, 'FULL').isWhole;
    } catch {
      // Tried again at the next check.
      return false;
    }
  }
}
