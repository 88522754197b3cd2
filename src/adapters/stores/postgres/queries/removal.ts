import type { Log } from '../../../../core/ports/log.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { callOf, resultOf } from '../functions.js';

/** The most that one statement removes. */
const THREADS_A_SLICE = 20;
const ROWS_A_SLICE = 2_000;
/** How many slices the deletion of one session removes: there may be many buried sessions before it. */
const SLICES_A_DELETION = 10;
/** How many slices of threads, and of deleted sessions, one prune removes, so that other data does not wait for hours. */
const SLICES_A_PRUNE = 500;

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

/** Removes a bounded number of rows. Returns true if there may be more. */
type Slice = () => Promise<boolean>;

/**
 * Deletes sessions and prunes old data. A deleted session is unreachable at once; its rows are removed in batches, by
 * the next prune at the latest.
 */
export function createRemoval(run: Run, log: Log | undefined): Pick<Store, 'deleteSession' | 'prune'> {
  const sweep: Slice = () => resultOf<boolean>(run, SWEEP, [ROWS_A_SLICE]);

  function removeBefore(statement: Statement, before: number): Slice {
    return async () => (await resultOf<number>(run, statement, [before, ROWS_A_SLICE])) >= ROWS_A_SLICE;
  }

  return {
    async deleteSession(id, at) {
      const [row] = await run<{ result: number | null }>(DELETE, [id, at]);
      if (row === undefined || row.result === null) return false;
      try {
        await repeat(sweep, { slices: SLICES_A_DELETION });
      } catch (error) {
        // The session is already unreachable, and the next prune removes its remaining rows.
        log?.warn({ err: error }, 'failed to remove the rows of a deleted session');
      }
      return true;
    },

    async prune(prune, signal) {
      const { threadsBefore, idempotencyBefore, usesBefore, usageBefore, activityBefore, at } = prune;
      const deleted: string[] = [];
      const deleteThreads: Slice = async () => {
        const rows = await run<{ result: string }>(PRUNE_THREADS, [threadsBefore, at, THREADS_A_SLICE]);
        deleted.push(...rows.map(({ result }) => result));
        return rows.length > 0;
      };
      if (threadsBefore !== null) await repeat(deleteThreads, { slices: SLICES_A_PRUNE, signal });
      await repeat(sweep, { slices: SLICES_A_PRUNE, signal });
      const trimLog: Slice = () =>
        resultOf<boolean>(run, TRIM_LOG, [prune.eventsKept, prune.eventsSince, ROWS_A_SLICE]);
      await repeat(trimLog, { signal });
      await repeat(removeBefore(PRUNE_KEYS, idempotencyBefore), { signal });
      await repeat(removeBefore(PRUNE_USES, usesBefore), { signal });
      await repeat(removeBefore(PRUNE_PAST, prune.transactionsBefore), { signal });
      await repeat(removeBefore(PRUNE_USAGE, usageBefore), { signal });
      await repeat(removeBefore(PRUNE_WORK, usageBefore), { signal });
      await repeat(removeBefore(PRUNE_ACTIVITY, activityBefore), { signal });
      return deleted;
    },
  };
}

/** Removes slices until there are no more, `slices` have been removed, or the signal aborts. */
async function repeat(
  removeSlice: Slice,
  { slices = Infinity, signal }: { readonly slices?: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  for (let n = 0; n < slices && signal?.aborted !== true; n++) if (!(await removeSlice())) return;
}
