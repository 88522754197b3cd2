import type { Log } from '../../../core/ports/log.js';
import type { Store } from '../../../core/ports/store.js';
import { createBranches } from './queries/branches.js';
import { createCalls } from './queries/calls.js';
import { openConnections, type PostgresOptions, type Run } from './connections.js';
import { createFaults } from './queries/faults.js';
import { createKeys } from './queries/keys.js';
import { createLeases } from './queries/leases.js';
import { migrate, readMigrations } from './migrate.js';
import { createOverview } from './queries/overview.js';
import { createProbe } from './queries/probe.js';
import { createReads } from './queries/reads.js';
import { createRemoval } from './queries/removal.js';
import { createSecrets } from './queries/secrets.js';
import { createThreadReads } from './queries/threads.js';
import { createUsage } from './queries/usage.js';
import { Steps } from './steps.js';
import { createWallet } from './queries/wallet.js';
import { createWrites } from './queries/writes.js';

/**
 * Opens a store in PostgreSQL (15 or newer), which several nodes may share, and migrates its schema.
 * @throws StoreUnavailableError when the database cannot be reached
 * @throws SchemaVersionError when the schema is newer than this program, older and must not be migrated, or absent and
 * must not be created
 * @throws Error when commits are not durable
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const migrations = await readMigrations(new URL('./migrations/', import.meta.url));
  const settings = await migrate(options, migrations);
  const connections = openConnections(options, settings);
  const { run } = connections;
  try {
    await expectSettings(run, settings);
  } catch (error) {
    await connections.close();
    throw error;
  }
  const steps = new Steps(run);
  return {
    ...createStatements(run, steps, options.log),
    async close() {
      await steps.settled();
      await connections.close();
    },
  };
}

/** Creates all methods of the store but `close`. */
export function createStatements(run: Run, steps: Steps, log: Log | undefined): Omit<Store, 'close'> {
  return {
    ...createReads(run),
    ...createThreadReads(run),
    ...createWrites(run, steps),
    ...createBranches(run),
    ...createFaults(run),
    ...createLeases(run),
    ...createCalls(run),
    ...createKeys(run),
    ...createProbe(run),
    ...createSecrets(run),
    ...createOverview(run),
    ...createUsage(run),
    ...createWallet(run),
    ...createRemoval(run, log),
  };
}

const READ_SETTING = { name: 'read_setting', text: 'SELECT current_setting($1) AS value' };

/** Checks that connections have the settings. A pooler may have ignored them. */
async function expectSettings(run: Run, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const [row] = await run<{ value: string }>(READ_SETTING, [name]);
    if (row?.value === value) continue;
    throw new Error(
      `PostgreSQL has ${name} = ${row?.value ?? 'nothing'}, and its pooler ignores what the connection sets: ` +
        `run ALTER ROLE … SET ${name} = ${value}`,
    );
  }
}
