import type { Log } from '../../../../core/ports/log.js';
import type { Prune } from '../../../../core/ports/store.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { callOf, resultOf } from '../functions.js';

/** The most that one statement removes. */
const THREADS_A_SLICE = 20;
const ROWS_A_SLICE = 2_000;
/** How many slices the deletion of one session removes: there may be many buried sessions before it. */
const SLICES_A_DELETION = 5;

const DELETE = callOf('delete_session', 2);
const SWEEP = callOf('sweep_buried', 1);
const PRUNE_THREADS = callOf('prune_threads', 3);
const TRIM_LOG = callOf('trim_log', 3);
const PRUNE_KEYS = callOf('prune_keys', 2);
const PRUNE_USES = callOf('prune_uses', 2);
const PRUNE_ACTIVITY = callOf('prune_activity', 2);
const PRUNE_WORK = pruneBy('work', 'day');
const PRUNE_USAGE = pruneBy('usage', 'day');
const PRUNE_PAST = pruneBy('past_transactions', 'requested_at');

/** Removes at most $2 rows whose `column` is before $1. Returns their number as `result`. */
function pruneBy(table: string, column: string): Statement {
  const old = `SELECT ctid FROM ${table} WHERE ${column} < $1 ORDER BY ${column} LIMIT $2`;
  return {
    name: `prune_${table}`,
    text: `WITH removed AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY (${old})) RETURNING 1)
      SELECT count(*)::integer AS result FROM removed`,
  };
}

/**
 * Deletes sessions and prunes old data. A deleted session is unreachable at once; its rows are removed in batches, by
 * the next prune at the latest.
 */
export function createRemoval(run: Run, log: Log | undefined): Pick<Store, 'deleteSession' | 'prune'> {
  async function sweep(slices = Infinity): Promise<void> {
    for (let n = 0; n < slices; n++) if (!(await resultOf<boolean>(run, SWEEP, [ROWS_A_SLICE]))) return;
  }

  async function pruneThreads(before: number, at: number): Promise<string[]> {
    const deleted: string[] = [];
    for (;;) {
      const rows = await run<{ result: string }>(PRUNE_THREADS, [before, at, THREADS_A_SLICE]);
      deleted.push(...rows.map(({ result }) => result));
      if (rows.length === 0) return deleted;
    }
  }

  async function trimLogs({ eventsKept, eventsSince }: Prune): Promise<void> {
    while (await resultOf<boolean>(run, TRIM_LOG, [eventsKept, eventsSince, ROWS_A_SLICE]));
  }

  async function pruneRows(statement: Statement, before: number): Promise<void> {
    for (;;) {
      const [row] = await run<{ result: number }>(statement, [before, ROWS_A_SLICE]);
      if (row === undefined || row.result < ROWS_A_SLICE) return;
    }
  }

  return {
    async deleteSession(id, at) {
      const [row] = await run<{ result: number | null }>(DELETE, [id, at]);
      if (row === undefined || row.result === null) return false;
      try {
        await sweep(SLICES_A_DELETION);
      } catch (error) {
        // The session is already unreachable, and the next prune removes its remaining rows.
        log?.warn({ err: error }, 'failed to remove the rows of a deleted session');
      }
      return true;
    },

    async prune(prune) {
      const { threadsBefore, idempotencyBefore, usesBefore, usageBefore, activityBefore, at } = prune;
      const deleted = threadsBefore === null ? [] : await pruneThreads(threadsBefore, at);
      await sweep();
      await trimLogs(prune);
      await pruneRows(PRUNE_KEYS, idempotencyBefore);
      await pruneRows(PRUNE_USES, usesBefore);
      await pruneRows(PRUNE_PAST, usesBefore);
      await pruneRows(PRUNE_USAGE, usageBefore);
      await pruneRows(PRUNE_WORK, usageBefore);
      await pruneRows(PRUNE_ACTIVITY, activityBefore);
      return deleted;
    },
  };
}
