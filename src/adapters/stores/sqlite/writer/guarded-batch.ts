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
  /** Called once, when the database must be reopened because its log was removed or replaced. */
  readonly onLogLost: (failure: Failure) => void;
}

/**
 * Runs batches of steps. A batch succeeds only if the database's files are in place before it and after its commit.
 */
export class GuardedBatch {
  readonly #parts: Guarded;
  #lost: Failure | undefined;

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
    // Another process opened a replaced log and may have written to it; a checkpoint of our log could undo that.
    // Closing the database checkpoints it if no other process has the database open.
    const isSafe = state.kind === 'log_replaced' || (state.kind === 'log_removed' && this.#saveLog());
    if (isSafe) {
      this.#lost = failure;
      this.#parts.onLogLost(failure);
    }
    return failure;
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
