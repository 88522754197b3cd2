import type { Command } from 'commander';
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
    .option('--database-url <url>', 'where the data is (DATABASE_URL)');
}

/** The configuration as the service would read it. @throws ConfigError */
export function configOf(flags: ConfigFlags): Promise<Config> {
  return readConfig(processSources({ CONFIG_FILE: flags.config, DATABASE_URL: flags.databaseUrl }));
}

/** Does something with the service's own data, beside it if it runs. */
export async function withStore<T>(
  flags: ConfigFlags,
  work: (opened: OpenedStore, config: Config) => Promise<T>,
): Promise<T> {
  const config = await configOf(flags);
  if (config.database.kind === 'sqlite' && config.database.path === null) {
    throw new CommandError(
      'DATABASE_URL is sqlite::memory:, which lives and ends with the service: nothing to work on',
    );
  }
  const opened = await openStore(config);
  try {
    return await work(opened, config);
  } finally {
    await opened.close();
  }
}
