import type { Database } from 'better-sqlite3';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { isFull, isUnavailable, toFailure, type Failure } from '../failure.js';
import { runStep, type Call, type Handlers, type StepName, type Steps } from '../steps.js';

/** The result of a step, as it is posted to the main thread. */
export type Outcome = { readonly value: Steps[StepName]['result'] } | { readonly failure: Failure };

/**
 * Creates a function that runs steps in one transaction, so that they share one commit. A failing step has no effect on
 * the others; when the database itself fails, all steps fail. Steps with a value have been committed to disk.
 *
 * The steps first run without savepoints, which are slow: SQLite copies every page that is changed under one. If a step
 * fails, the transaction is rolled back and all steps run again, each in its own savepoint.
 * @param makeRoom called when the disk is full; if it returns true, the batch runs a second time
 */
export function createBatch(
  db: Database,
  handlers: Handlers,
  makeRoom: () => boolean,
): (calls: readonly Call[]) => Outcome[] {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const open = db.prepare('SAVEPOINT step');
  const undo = db.prepare('ROLLBACK TO step');
  const release = db.prepare('RELEASE step');

  function attempt(call: Call): Outcome {
    open.run();
    try {
      const value = runStep(handlers, call);
      release.run();
      return { value };
    } catch (error) {
      // SQLite rolls back the whole transaction by itself after some errors: then the batch cannot continue.
      if (isUnavailable(error) || !db.inTransaction) throw error;
      undo.run();
      release.run();
      return { failure: toFailure(error, error instanceof StoreUnavailableError ? 'unavailable' : 'defect') };
    }
  }

  function runAll(calls: readonly Call[]): Outcome[] {
    try {
      return calls.map((call) => ({ value: runStep(handlers, call) }));
    } catch (error) {
      if (isUnavailable(error) || !db.inTransaction) throw error;
      rollback.run();
      begin.run();
      return calls.map(attempt);
    }
  }

  function commitAll(calls: readonly Call[]): Outcome[] {
    try {
      begin.run();
      const outcomes = runAll(calls);
      commit.run();
      return outcomes;
    } catch (error) {
      if (db.inTransaction) rollback.run();
      throw error;
    }
  }

  return (calls) => {
    try {
      try {
        return commitAll(calls);
      } catch (error) {
        if (!isFull(error) || !makeRoom()) throw error;
        return commitAll(calls);
      }
    } catch (error) {
      const failure = toFailure(error, 'unavailable');
      return calls.map(() => ({ failure }));
    }
  };
}
