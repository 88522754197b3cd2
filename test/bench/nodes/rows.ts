import { randomUUID } from 'node:crypto';
import { requestBytes, type Spread } from '../load/lane.js';
import { Load, type Target, type Work } from '../load/measure.js';
import { createSession, repeat } from '../load/requests.js';
import { chatAndPoll, streamTurns } from '../load/turns.js';
import type { Store } from '../../../src/core/ports/store.js';
import { median } from '../machine.js';
import { seed, seedThread } from '../seed.js';
import { makeFolder, startProduct } from '../servers.js';
import { startCluster, type Cluster, type Spent } from './cluster.js';

/** How long is measured, in CPU seconds of everything that takes part. */
export interface Pace {
  readonly rounds: number;
  readonly warm: number;
  readonly seconds: number;
}

/** One line of the table. */
export interface Line {
  readonly row: string;
  /** Units of work for each CPU second: of the first side and of the second. */
  readonly figures: readonly [number, number];
  readonly got: number;
  /** Null: the row is for sizing. */
  readonly bound: number | null;
  readonly isMet: boolean;
  /** Where the second side's CPU time went, in milliseconds for each unit of work. */
  readonly parts: Spent;
}

const WORKERS = 64;
/** One for each worker. */
const THREADS = Array.from({ length: WORKERS }, () => randomUUID());
const MESSAGES = 100;
/** Running replies at a time, where models keep a pace. */
const STREAMS = 600;
/** Turns at a time where a load is too much for one node. */
const MANY = 512;
const THREE = 3;
const MAX_THREE = 1.15;

interface RowOfOne {
  readonly row: string;
  /** The least throughput of the cluster for each CPU second, as a share of the SQLite node's. */
  readonly bound: number | null;
  readonly workers: number;
  readonly work: () => Work;
}

/** The rows that compare one node on PostgreSQL and Redis with one on SQLite, by id. */
const ONE: Readonly<Record<string, RowOfOne>> = {
  turn: {
    ...{ row: 'streamed turn (50 tokens)', bound: 0.5, workers: WORKERS },
    work: () => streamTurns({ tokens: 50, counts: 'turns' }),
  },
  create: { row: 'create session', bound: 0.4, workers: WORKERS, work: () => createSession },
  poll: { row: 'chat and poll', bound: 0.45, workers: WORKERS, work: () => chatAndPoll(50) },
  state: {
    ...{ row: `state of ${String(MESSAGES)} messages`, bound: 0.6, workers: WORKERS },
    work: readState,
  },
  few: { row: 'state, 16 clients', bound: null, workers: 16, work: readState },
  paced: {
    ...{ row: 'token of a stream, 20 a second', bound: null, workers: STREAMS },
    work: () => streamTurns({ tokens: 200, pace: 50, counts: 'tokens' }),
  },
};

/** The rows that compare three nodes with one, by id. */
const SEVERAL: Readonly<
  Record<string, { readonly row: string; readonly spread: Spread; readonly workers: number }>
> = {
  three: {
    row: 'streamed turn, three nodes ÷ one, CPU time, to the next node',
    ...{ spread: 'next', workers: WORKERS },
  },
  bound: { row: 'the same, each session to one node', spread: 'session', workers: WORKERS },
  manythree: { row: `${String(MANY)} clients, to the next node`, spread: 'next', workers: MANY },
  manybound: { row: `${String(MANY)} clients, each session to one node`, spread: 'session', workers: MANY },
};

/** Reads the state of the worker's own thread. */
function readState(): Work {
  const works = THREADS.map((id) => repeat(requestBytes('GET', '/api/state', { 'X-Session-Id': id })));
  return async (lane, worker, count) => {
    await works[worker % works.length]?.(lane, worker, count);
  };
}

async function seedThreads(store: Store): Promise<void> {
  for (const id of THREADS) await seedThread(store, id, MESSAGES);
}

export const ROWS: readonly string[] = [...Object.keys(ONE), ...Object.keys(SEVERAL)];

/** Measures rows by their ids. @param onLine receives each line when it is measured */
export async function measureRows(
  ids: readonly string[],
  upstream: string,
  pace: Pace,
  onLine: (line: Line) => void,
): Promise<void> {
  const alone = Object.entries(ONE).filter(([id]) => ids.includes(id));
  const cluster = await startCluster({ nodes: 1, upstream });
  await cluster.fill(seedThreads);
  if (alone.length > 0) {
    const folder = makeFolder();
    await seed(folder, seedThreads);
    const sqlite = await startProduct({ upstream, folder });
    for (const [, { row, bound, workers, work }] of alone) {
      const { figures, parts } = await alternate([sqlite, cluster], workers, work, pace);
      const got = figures[1] / figures[0];
      onLine({ row, figures, got, bound, isMet: bound === null || got >= bound, parts });
    }
    await sqlite.end();
  }
  const several = Object.entries(SEVERAL).filter(([id]) => ids.includes(id));
  if (several.length > 0) {
    const three = await startCluster({ nodes: THREE, upstream });
    const work = () => streamTurns({ tokens: 50, counts: 'turns' });
    for (const [, { row, spread, workers }] of several) {
      const { figures, parts } = await alternate([cluster, { ...three, spread }], workers, work, pace);
      // The cost of a turn, not the turns for a cost.
      const got = figures[0] / figures[1];
      onLine({ row, figures, got, bound: MAX_THREE, isMet: got <= MAX_THREE, parts });
    }
    await three.end();
  }
  await cluster.end();
}

/** Loads both sides in turn, so that whatever else the machine does meets both. */
async function alternate(
  sides: readonly [Target, Cluster],
  workers: number,
  work: () => Work,
  { rounds, warm, seconds }: Pace,
): Promise<{ figures: [number, number]; parts: Spent }> {
  // Work of its own for each side: it may continue threads of that side.
  const works = sides.map(() => work());
  const count = async (index: 0 | 1, units: number): Promise<{ rate: number; parts: Spent }> => {
    const load = await Load.start(sides[index], workers, works[index] ?? work(), { awake: true });
    const before = sides[1].spent();
    const done = await load.count(units);
    // Before the load stops: it ends what it has begun.
    const parts = share(before, sides[1].spent(), done.units);
    await load.stop();
    return { rate: done.perCpuSecond, parts };
  };
  // Each node compiles its code by its own work.
  for (const index of [0, 1] as const) await count(index, warm * (sides[index].ports?.length ?? 1));
  const rates: [number[], number[]] = [[], []];
  const spent: Spent[] = [];
  for (let round = 0; round < rounds; round++) {
    rates[0].push((await count(0, seconds)).rate);
    const { rate, parts } = await count(1, seconds);
    rates[1].push(rate);
    spent.push(parts);
  }
  const middle = (part: keyof Spent): number => median(spent.map((one) => one[part]));
  return {
    figures: [median(rates[0]), median(rates[1])],
    parts: { nodes: middle('nodes'), postgres: middle('postgres'), redis: middle('redis') },
  };
}

/** Milliseconds for each unit, by part. */
function share(before: Spent, after: Spent, units: number): Spent {
  const of = (part: keyof Spent): number => ((after[part] - before[part]) / units) * 1000;
  return { nodes: of('nodes'), postgres: of('postgres'), redis: of('redis') };
}
