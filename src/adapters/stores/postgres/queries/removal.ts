import type { Log } from '../../../../core/ports/log.js';
import type { Prune } from '../../../../core/ports/store.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { callOf } from './writes.js';

/** How much one statement removes at most. */
const THREADS_A_SLICE = 20;
const ROWS_A_SLICE = 2_000;

const DELETE = callOf('delete_session', 2);
const SWEEP = callOf('sweep_buried', 1);
const PRUNE_THREADS = callOf('prune_threads', 3);
const PRUNE_KEYS = callOf('prune_keys', 2);
const PRUNE_USES = callOf('prune_uses', 2);
const PRUNE_USAGE: Statement = {
  name: 'prune_usage',
  text: 'DELETE FROM usage WHERE day < $1',
};
const PRUNE_EVENTS: Statement = {
  name: 'prune_events',
  text: 'SELECT pruned, done FROM prune_events($1, $2, $3, $4)',
};

/** What removes: a session is out of reach with the first statement, its rows go in slices. */
export function createRemoval(run: Run, log: Log | undefined): Pick<Store, 'deleteSession' | 'prune'> {
  async function sweep(): Promise<void> {
    for (;;) {
      const [row] = await run<{ result: boolean }>(SWEEP, [ROWS_A_SLICE]);
      if (row?.result !== true) return;
    }
  }

  async function pruneThreads(before: number, at: number): Promise<string[]> {
    const deleted: string[] = [];
    for (;;) {
      const rows = await run<{ result: string }>(PRUNE_THREADS, [before, at, THREADS_A_SLICE]);
      deleted.push(...rows.map(({ result }) => result));
      if (rows.length === 0) return deleted;
    }
  }

  async function pruneEvents({ eventsKept, eventsSince }: Prune): Promise<void> {
    for (let after = 0; ;) {
      const values = [after, eventsKept, eventsSince, ROWS_A_SLICE];
      const [row] = await run<{ pruned: number | null; done: boolean }>(PRUNE_EVENTS, values);
      if (row === undefined || row.pruned === null) return;
      after = row.done ? row.pruned : row.pruned - 1;
    }
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
        await sweep();
      } catch (error) {
        // The session is gone all the same: the next pruning removes what is left of it.
        log?.warn({ err: error }, 'the rows of a deleted session could not be removed yet');
      }
      return true;
    },

    async prune(prune) {
      const { threadsBefore, idempotencyBefore, usesBefore, usageBefore, at } = prune;
      const deleted = threadsBefore === null ? [] : await pruneThreads(threadsBefore, at);
      await sweep();
      await pruneEvents(prune);
      await pruneRows(PRUNE_KEYS, idempotencyBefore);
      await pruneRows(PRUNE_USES, usesBefore);
      await run(PRUNE_USAGE, [usageBefore]);
      return deleted;
    },
  };
}
