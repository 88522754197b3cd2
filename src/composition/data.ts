import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '../config.js';
import type { Bus } from '../core/ports/bus.js';
import type { Log } from '../core/ports/log.js';
import type { Store } from '../core/ports/store.js';

export interface OpenedStore {
  readonly store: Store;
  /** The file of the generated secrets key; null when the key must be configured. */
  readonly secretsKeyFile: string | null;
  /** Descriptions of data that was expected but is missing, for the operator. */
  readonly missing: readonly string[];
  close(): Promise<void>;
}

/** The name of the secrets key file, in the directory of the database. */
export const SECRETS_KEY_FILE = 'secrets.key';

/**
 * Opens the store. `close` deletes a temporary database.
 * @param options `creates`: whether a SQLite database that does not exist, and the schema of an empty PostgreSQL
 * database, are created; `migrates`: whether an older schema is migrated; both true by default
 * @throws SchemaVersionError when the schema is newer than this program, older and must not be migrated, or absent and
 * must not be created
 */
export async function openStore(
  { database, preparesStatements }: Pick<Config, 'database' | 'preparesStatements'>,
  {
    log,
    creates = true,
    migrates = true,
  }: { readonly log?: Log; readonly creates?: boolean; readonly migrates?: boolean } = {},
): Promise<OpenedStore> {
  if (database.kind === 'postgres') {
    const { openPostgresStore } = await import('../adapters/stores/postgres/store.js');
    const { url } = database;
    const store = await openPostgresStore({
      url,
      preparesStatements,
      creates,
      migrates,
      ...(log !== undefined && { log }),
    });
    return { store, secretsKeyFile: null, missing: [], close: () => store.close() };
  }
  const { openSqliteStore } = await import('../adapters/stores/sqlite/store.js');
  const { path, remove } = database.path === null ? createTemporary() : { path: database.path, remove: null };
  const secretsKeyFile = join(dirname(path), SECRETS_KEY_FILE);
  const store = await openSqliteStore({
    path,
    creates: creates || remove !== null,
    migrates,
    companions: [secretsKeyFile],
    ...(log !== undefined && { log }),
  });
  return {
    store,
    secretsKeyFile,
    missing: store.missing,
    async close() {
      await store.close();
      remove?.();
    },
  };
}

/** Creates a folder for a database. It is removed when the process exits, also without a shutdown. */
function createTemporary(): { readonly path: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'diptych-'));
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.on('exit', remove);
  return { path: join(folder, 'diptych.db'), remove };
}

/** The default of `REDIS_PREFIX`, which deployments that share a Redis must set. */
export const CHANNEL_PREFIX = 'diptych';

export interface OpenedBus {
  readonly bus: Bus;
  /** Whether signals currently reach other nodes; null without Redis. */
  readonly isUp: (() => boolean) | null;
}

/** Opens the signal bus: between all nodes with Redis, otherwise within this process. */
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
