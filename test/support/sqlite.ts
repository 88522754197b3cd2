import {
  openSqliteStore,
  type SqliteOptions,
  type SqliteStore,
} from '../../src/adapters/stores/sqlite/store.js';

/** The compiled writing thread: jest runs sources, a thread cannot. `npm test` builds before. */
export const SQLITE_WORKER = new URL('../../dist/adapters/stores/sqlite/writer/worker.js', import.meta.url);

/** Opens a SQLite store: by default in a temporary file that is removed when it is closed. */
export function openTestSqlite(options: Partial<SqliteOptions> = {}): Promise<SqliteStore> {
  return openSqliteStore({ path: ':memory:', worker: SQLITE_WORKER, ...options });
}
