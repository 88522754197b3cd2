import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../config.js';
import type { Bus } from '../core/ports/bus.js';
import type { Log } from '../core/ports/log.js';
import type { Store } from '../core/ports/store.js';

/** The store, and how to let go of it. */
export interface OpenedStore {
  readonly store: Store;
  /** Where the key of secrets is made when none is configured; null where it must be. */
  readonly secretsKeyFile: string | null;
  /** What was expected in the data and is not there, in words for the operator. */
  readonly missing: readonly string[];
  /** Copies the data to a new file while it is in use; null where the database has tools of its own for that. */
  readonly backup: ((file: string, onProgress?: (share: number) => void) => Promise<void>) | null;
  close(): Promise<void>;
}

/** The file of the key of secrets, beside the database. */
export const SECRETS_KEY_FILE = 'secrets.key';

/** Opens the data. A temporary database goes away with `close`. */
export async function openStore({ database }: Pick<Config, 'database'>, log?: Log): Promise<OpenedStore> {
  if (database.kind === 'postgres') {
    const { openPostgresStore } = await import('../adapters/stores/postgres/store.js');
    const store = await openPostgresStore({ url: database.url, ...(log !== undefined && { log }) });
    return { store, secretsKeyFile: null, missing: [], backup: null, close: () => store.close() };
  }
  const { openSqliteStore } = await import('../adapters/stores/sqlite/store.js');
  const { path } = database;
  const directory = path === null ? await mkdtemp(join(tmpdir(), 'diptych-')) : dirname(path);
  // What people write is for its operator alone.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const secretsKeyFile = join(directory, SECRETS_KEY_FILE);
  const store = await openSqliteStore({
    path: path ?? join(directory, 'diptych.db'),
    companions: [secretsKeyFile],
    ...(log !== undefined && { log }),
  });
  return {
    store,
    secretsKeyFile,
    missing: store.missing,
    backup: (file, onProgress) => store.backup(file, onProgress),
    async close() {
      await store.close();
      if (path === null) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Begins every channel where `REDIS_PREFIX` is not set, as it is to be where deployments share a Redis. */
const CHANNEL_PREFIX = 'diptych';

/** What carries signals. */
export interface OpenedBus {
  readonly bus: Bus;
  /** Whether signals reach other nodes now; null where there are none. */
  readonly isUp: (() => boolean) | null;
}

/** Opens what carries signals: between all nodes with Redis, within this process without. */
export async function openBus(
  { redisUrl, redisPrefix }: Pick<Config, 'redisUrl' | 'redisPrefix'>,
  log: Log,
): Promise<OpenedBus> {
  if (redisUrl === null) {
    const { createMemoryBus } = await import('../adapters/bus/memory/bus.js');
    return { bus: createMemoryBus(), isUp: null };
  }
  const { openRedisBus } = await import('../adapters/bus/redis/bus.js');
  const bus = await openRedisBus({ url: redisUrl, prefix: redisPrefix ?? CHANNEL_PREFIX, log });
  return { bus, isUp: () => bus.isUp };
}
