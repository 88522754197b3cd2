import { expect, it } from '@jest/globals';
import type { Run } from '../../src/adapters/stores/postgres/connections.js';
import { createRemoval } from '../../src/adapters/stores/postgres/queries/removal.js';
import { NO_PRUNE, T0 } from '../contracts/store-fixtures.js';

const IDLE = { ...NO_PRUNE, threadsBefore: T0 };

/** Statements on a database that always has more threads to delete, and rows of deleted ones; records their names. */
function endless(onStatement: (names: readonly string[]) => void = () => undefined) {
  const names: string[] = [];
  const results: Readonly<Record<string, unknown>> = {
    prune_threads: 'id',
    sweep_buried: true,
    trim_log: false,
  };
  const run: Run = ({ name }) => {
    names.push(name);
    onStatement(names);
    return Promise.resolve([{ result: results[name] ?? 0 }] as never[]);
  };
  return { names, ...createRemoval(run, undefined) };
}

it('a prune with threads without end removes other data too', async () => {
  const { names, prune } = endless();
  expect(await prune(IDLE)).toHaveLength(500);
  expect(names.filter((name) => name === 'sweep_buried')).toHaveLength(500);
  expect(names.slice(1_000)).toEqual([
    ...['trim_log', 'prune_keys', 'prune_uses', 'prune_past_transactions'],
    ...['prune_usage', 'prune_work', 'prune_activity'],
  ]);
});

it('a prune that is stopped returns the threads that it has deleted', async () => {
  const stopping = new AbortController();
  const { names, prune } = endless((sent) => {
    if (sent.length === 3) stopping.abort();
  });
  expect(await prune(IDLE, stopping.signal)).toHaveLength(3);
  expect(names).toHaveLength(3);
});
