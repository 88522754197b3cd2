import type { Store } from '../../../core/ports/store.js';
import { createCalls } from './calls.js';
import { openConnections, type PostgresOptions } from './connections.js';
import { createFaults } from './faults.js';
import { createKeys } from './keys.js';
import { createLeases } from './leases.js';
import { migrate, readMigrations } from './migrate.js';
import { createOverview } from './overview.js';
import { createReads } from './reads.js';
import { createRemoval } from './removal.js';
import { createSecrets } from './secrets.js';
import { createThreadReads } from './thread-reads.js';
import { createUsage } from './usage.js';
import { createWrites } from './writes.js';

/**
 * Opens a store in PostgreSQL (15 or newer), which several nodes may share, and brings its schema up to date.
 * @throws StoreUnavailableError when the database cannot be reached
 * @throws Error when it was written by a newer version of this program
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const migrations = await readMigrations(new URL('./migrations/', import.meta.url));
  const settings = await migrate(options, migrations);
  const connections = openConnections(options, settings);
  const { run } = connections;
  return {
    ...createReads(run),
    ...createThreadReads(run),
    ...createWrites(run),
    ...createFaults(run),
    ...createLeases(run),
    ...createCalls(run),
    ...createKeys(run),
    ...createSecrets(run),
    ...createOverview(run),
    ...createUsage(run),
    ...createRemoval(run, options.log),
    close: () => connections.close(),
  };
}
