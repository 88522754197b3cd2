import { join } from 'node:path';
import type { ServerOptions } from '../support/server-process.js';
import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import { FleetOperator } from './fleet-operator.js';
import { Fleet } from './fleet.js';
import { Operator } from './operator.js';
import { DRAIN_SECONDS, ServedNode } from './served-node.js';
import { steadyPort } from './services/service-process.js';
import type { World } from './world.js';

/** What clients talk to, and what happens to it. */
export interface Service extends Pick<World, 'door' | 'whenUp' | 'weather' | 'isTroubledSince'> {
  /** What it runs on, in words for the output. */
  readonly about: string;
  /** What happened, and what became of it, in words for the output. */
  readonly notes: readonly string[];
  readonly nodes: readonly ServedNode[];
  /** @throws when a server does not start */
  start(): Promise<void>;
  /** Makes faults until so many SIGKILLs are done. Ends with all of it well. */
  run(world: World, kills: number, conversations: () => readonly Followed[]): Promise<void>;
  /** Ends everything that it has started. */
  close(): Promise<void>;
}

/**
 * One server on SQLite, or several on PostgreSQL and Redis. Not started yet.
 * @param options `firstApp`: what the first start of each server runs
 */
export async function openService(
  nodes: number,
  { app, firstApp, cwd }: Pick<ServerOptions, 'app' | 'cwd'> & { readonly firstApp: string },
  { figures, seed }: { figures: Figures; seed: string },
): Promise<Service> {
  const env = { RATE_LIMIT: '0', DRAIN_TIMEOUT: String(DRAIN_SECONDS) };
  if (nodes > 1) {
    const fleet = await Fleet.open(nodes, { app, firstApp, cwd, env }, figures);
    return new FleetOperator(fleet, figures, seed);
  }
  const served = {
    ...{ app, cwd },
    port: await steadyPort(),
    env: { ...env, DATABASE_URL: `sqlite:${join(cwd, 'data', 'diptych.db')}` },
    log: join(cwd, 'server.log'),
  };
  return new Operator(new ServedNode('', served, figures, firstApp), figures, seed);
}
