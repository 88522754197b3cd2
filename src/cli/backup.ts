import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { SECRETS_KEY_FILE } from '../composition/data.js';
import { configOf, requireDatabase, warnOfMissing, withConfig, type ConfigFlags } from './configured.js';
import { CommandError, INTERRUPTED, printJson, showProgress, type Terminal } from './terminal.js';

/** `backup FILE`: copies the data, also while the service runs. */
export function backupCommand(terminal: Terminal): Command {
  return withConfig(new Command('backup'))
    .description('copy the data to a new file; safe while the service runs')
    .argument('<file>', 'path of the copy; must not exist')
    .option('--json', 'print JSON')
    .action((file: string, flags: ConfigFlags & { json?: boolean }) =>
      backUp(terminal, resolve(file), flags),
    );
}

async function backUp(
  terminal: Terminal,
  target: string,
  flags: ConfigFlags & { json?: boolean },
): Promise<void> {
  if (existsSync(target)) throw new CommandError(`${target} exists; a backup never overwrites a file`);
  const source = await sourceOf(flags);
  const key = join(dirname(source), SECRETS_KEY_FILE);
  const { backupDatabase } = await import('../adapters/stores/sqlite/backup.js');
  const show = showProgress(terminal);
  const stop = new AbortController();
  const copying = backupDatabase(source, target, {
    companions: [key],
    onMissing: warnOfMissing,
    onProgress: (share) => {
      show(`${String(Math.floor(share * 100))} % copied`);
    },
    signal: stop.signal,
  });
  // Only now: the check of the database blocks the event loop, so that only Node's default handler reacts to Ctrl-C.
  const release = terminal.onStop(() => {
    stop.abort(new CommandError('Interrupted: there is no copy.', INTERRUPTED));
  });
  try {
    await copying;
  } finally {
    show('');
    release();
  }
  if (flags.json === true) printJson(terminal, { file: target });
  else
    terminal.output.write(
      `The copy is in ${target}.\n${existsSync(key) ? `It does not include ${key}: copy that file too, to another place.\n` : ''}`,
    );
}

/** @returns the path of the database file @throws CommandError when there is none */
async function sourceOf(flags: ConfigFlags): Promise<string> {
  const config = await configOf(flags);
  requireDatabase(config, false);
  const { database } = config;
  if (database.kind === 'sqlite' && database.path !== null) return database.path;
  throw new CommandError('backup supports only SQLite; for PostgreSQL, use pg_dump');
}
