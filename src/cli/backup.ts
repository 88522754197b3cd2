import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
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
  const show = showProgress(terminal);
  const stop = new AbortController();
  const release = terminal.onStop(() => {
    stop.abort(new CommandError('Interrupted: there is no copy.', INTERRUPTED));
  });
  try {
    await withStore(flags, async ({ backup }) => {
      if (backup === null) throw new CommandError('backup supports only SQLite; for PostgreSQL, use pg_dump');
      const onProgress = (share: number): void => {
        show(`${String(Math.floor(share * 100))} % copied`);
      };
      await backup(target, onProgress, stop.signal).finally(() => {
        show('');
      });
    });
  } finally {
    release();
  }
  if (flags.json === true) printJson(terminal, { file: target });
  else terminal.output.write(`The copy is in ${target}.\n`);
}
