import type { Command } from 'commander';
import { isMissing } from '../adapters/stores/sqlite/files/database-files.js';
import { openStore, type OpenedStore } from '../composition/data.js';
import { processSources, readConfig, type Config } from '../config.js';
import { CommandError } from './terminal.js';

/** The flags of every command that reads the configuration. */
export interface ConfigFlags {
  readonly config?: string;
  readonly databaseUrl?: string;
}

/** Adds the flags of every command that reads the configuration. */
export function withConfig(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (CONFIG_FILE)')
    .option('--database-url <url>', 'the database (DATABASE_URL)');
}

/** Reads the configuration like the service does. @throws ConfigError */
export function configOf(flags: ConfigFlags): Promise<Config> {
  return readConfig(processSources({ CONFIG_FILE: flags.config, DATABASE_URL: flags.databaseUrl }));
}

/**
 * Runs `work` with the service's store, which a running service may be using at the same time. Leaves an older schema
 * alone: nodes of the version that wrote it could not start any more.
 * @param options `creates`: a SQLite database that does not exist, or the schema of an empty PostgreSQL database, is
 * created
 * @throws CommandError when there is no database
 * @throws SchemaVersionError when its schema is not the one of this version, or absent
 */
export async function withStore<T>(
  flags: ConfigFlags,
  work: (opened: OpenedStore, config: Config) => Promise<T>,
  options: { readonly creates?: boolean } = {},
): Promise<T> {
  const config = await configOf(flags);
  const creates = options.creates === true;
  requireDatabase(config, creates);
  // The file may have been moved since that check.
  const opened = await openStore(config, { creates, migrates: false });
  // Opening the database removes the traces of the loss: the service could not report it any more.
  warnOfMissing(opened.missing);
  try {
    return await work(opened, config);
  } finally {
    await opened.close();
  }
}

/** Warns of data that was found missing when a database was opened. */
export function warnOfMissing(missing: readonly string[]): void {
  for (const message of missing) process.stderr.write(`warning: ${message}\n`);
}

/**
 * Checks that a SQLite database can be opened by a command.
 * @param creates whether it may be missing
 * @throws CommandError
 */
export function requireDatabase({ database }: Pick<Config, 'database'>, creates: boolean): void {
  if (database.kind !== 'sqlite') return;
  if (database.path === null) {
    throw new CommandError('DATABASE_URL is sqlite::memory:, which exists only inside the running service');
  }
  // A mistyped path, or another folder than the service's, must not look like a database without data.
  if (!creates && isMissing(database.path)) {
    throw new CommandError(
      `There is no database ${database.path}; see --database-url, or start the service first`,
    );
  }
}
