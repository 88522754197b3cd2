import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openPostgresStore } from '../../../src/adapters/stores/postgres/store.js';
import type { Store } from '../../../src/core/ports/store.js';
import { OwnPostgres } from '../../chaos/services/own-postgres.js';
import { OwnRedis } from '../../chaos/services/own-redis.js';
import type { Target } from '../load/measure.js';
import { cpuSeconds, familyCpuSeconds, pinToServer } from '../machine.js';
import { makeFolder, startProduct, type Product } from '../servers.js';

/** The CPU seconds of each part of a cluster. */
export interface Spent {
  readonly nodes: number;
  readonly postgres: number;
  readonly redis: number;
}

/** Nodes with a PostgreSQL, whose commits are flushed to the disk, and a Redis of their own. */
export interface Cluster extends Target {
  readonly nodes: readonly Product[];
  /** The CPU seconds so far, by part. */
  spent(): Spent;
  /** Runs `fill` on a store that is opened for it. */
  fill(fill: (store: Store) => Promise<void>): Promise<void>;
  end(): Promise<void>;
}

/**
 * @param flags flags of node itself, for the first node
 * @throws Error when there is no PostgreSQL or no Redis
 */
export async function startCluster(options: {
  readonly nodes: number;
  readonly upstream: string;
  readonly flags?: readonly string[];
}): Promise<Cluster> {
  const folder = makeFolder();
  const postgres = await OwnPostgres.start(join(folder, 'postgres.log'), { isDurable: true });
  if (postgres === null) throw new Error('there are no programs of PostgreSQL, or no user to run them as');
  const redis = await OwnRedis.start(join(folder, 'redis.log'));
  for (const { pid } of [postgres, redis]) pinToServer(pid);
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    SECRETS_KEY: randomBytes(32).toString('base64'),
  };
  const nodes: Product[] = [];
  for (let n = 0; n < options.nodes; n++) {
    const flags = n === 0 ? options.flags : undefined;
    nodes.push(
      await startProduct({ upstream: options.upstream, env, ...(flags !== undefined && { flags }) }),
    );
  }
  const [first] = nodes;
  if (first === undefined) throw new Error('a cluster has one node or more');
  const spent = (): Spent => ({
    nodes: nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    postgres: familyCpuSeconds(postgres.pid),
    redis: cpuSeconds(redis.pid),
  });
  return {
    ...{ nodes, pid: first.pid, port: first.port, ports: nodes.map(({ port }) => port), spent },
    cpuSeconds() {
      const parts = spent();
      return parts.nodes + parts.postgres + parts.redis;
    },
    async fill(fill) {
      const store = await openPostgresStore({ url: postgres.url });
      try {
        await fill(store);
      } finally {
        await store.close();
      }
    },
    async end() {
      await Promise.all(nodes.map((node) => node.end()));
      await Promise.all([postgres.close(), redis.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
