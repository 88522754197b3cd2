import type { SqliteStore } from '../../src/adapters/stores/sqlite/store.js';
import { requestBytes } from './load/lane.js';
import type { Target, Work } from './load/measure.js';
import { createSession, pollUnchanged, repeat } from './load/requests.js';
import { chatAndPoll, streamTurns } from './load/turns.js';
import { seedThread } from './seed.js';

const SESSION = '5f0c2a51-0b7e-4f6c-9a37-3f2b8c1d4e90';
const OF_SESSION = { 'X-Session-Id': SESSION };
const MESSAGES = 10;

/** A load that the server alone bears, without another program to compare it with. */
export interface Workload {
  readonly workers: number;
  /** How often each worker repeats its work in a slice of `ab.ts`, so that a slice takes about 0.1 CPU seconds. */
  readonly repeats: number;
  /** Creates the work for one server. */
  readonly work: (server: Target) => Work | Promise<Work>;
}

/** The loads of `--profile` and of `ab.ts`, by name. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  turn: { workers: 64, repeats: 1, work: () => streamTurns({ tokens: 50, counts: 'turns' }) },
  token: { workers: 16, repeats: 1, work: () => streamTurns({ tokens: 500, counts: 'tokens' }) },
  paced: { workers: 256, repeats: 1, work: () => streamTurns({ tokens: 50, pace: 20, counts: 'tokens' }) },
  poll: { workers: 64, repeats: 1, work: () => chatAndPoll(50) },
  create: { workers: 64, repeats: 16, work: () => createSession },
  state: { workers: 64, repeats: 20, work: () => repeat(requestBytes('GET', '/api/state', OF_SESSION)) },
  notmodified: { workers: 64, repeats: 32, work: ({ port }) => pollUnchanged(port, OF_SESSION) },
  health: { workers: 64, repeats: 48, work: () => repeat(requestBytes('GET', '/api/health')) },
  models: {
    workers: 64,
    repeats: 32,
    work: () => repeat(requestBytes('GET', '/api/control/models', OF_SESSION)),
  },
};

/** Returns a workload by its name. @throws Error when there is none */
export function workloadOf(name: string): Workload {
  const workload = WORKLOADS[name];
  if (workload === undefined)
    throw new Error(`there is no workload ${name}: ${Object.keys(WORKLOADS).join(', ')}`);
  return workload;
}

/** Stores the session that some workloads read. */
export function seedWorkloads(store: SqliteStore): Promise<void> {
  return seedThread(store, SESSION, MESSAGES);
}
