import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { openRedisBus, type RedisBusOptions } from '../../src/adapters/bus/redis/bus.js';
import type { Signal } from '../../src/core/model/event.js';
import type { Bus } from '../../src/core/ports/bus.js';
import { collectLines, type Lines } from './lines.js';
import { describeWhere, PATIENCE_MS } from './describe-where.js';

/** The server that tests use, each with a prefix of its own. */
export const REDIS_URL = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';

async function findRedis(): Promise<string | null> {
  const client = new Redis(REDIS_URL, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return null;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return `skipped: no Redis at ${new URL(REDIS_URL).host}, see TEST_REDIS_URL`;
  } finally {
    if (client.status === 'ready') client.disconnect();
  }
}

const describeHere = describeWhere(await findRedis());

const open = new Set<Bus>();

/** Describes tests that need Redis: without one they are skipped, but fail when `CI` is `true`. */
export function describeWithRedis(name: string, tests: () => void): void {
  describeHere(name, () => {
    // Those of tests that ran out of time.
    afterAll(() => Promise.all([...open].map((bus) => bus.close())));
    tests();
  });
}

/** Runs with several nodes that share a prefix, and closes them after. */
export async function withNodes(
  count: number,
  run: (nodes: readonly (Lines & { readonly bus: Bus })[], prefix: string) => Promise<void>,
  options: Partial<RedisBusOptions> = {},
): Promise<void> {
  const prefix = `test:${randomUUID()}`;
  const nodes = await Promise.all(
    Array.from({ length: count }, async () => {
      const lines = collectLines();
      const bus = await openRedisBus({ url: REDIS_URL, prefix, log: lines.log, ...options });
      open.add(bus);
      return { ...lines, bus };
    }),
  );
  try {
    await run(nodes, prefix);
  } finally {
    await Promise.all(nodes.map(({ bus }) => bus.close()));
  }
}

/** A listener whose signals can be waited for. */
export async function listen(bus: Bus, sessionId: string) {
  const seen: Signal[] = [];
  const waiting = new Set<() => void>();
  const detach = await bus.subscribe(sessionId, (signal) => {
    seen.push(signal);
    for (const look of waiting) look();
  });
  /** Resolves with the first signal that fits. */
  const received = (fits: (signal: Signal) => boolean): Promise<Signal> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = seen.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { seen, detach, received };
}

/** Runs one command on a connection of its own. */
export async function withRedis<T>(run: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(REDIS_URL, { lazyConnect: true });
  try {
    // A subscription before the client is ready can overtake its check of the server, which then fails.
    await client.connect();
    return await run(client);
  } finally {
    client.disconnect();
  }
}
