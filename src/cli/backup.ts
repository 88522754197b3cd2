import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { CommandError, printJson, showProgress, type Terminal } from './terminal.js';

/** `backup FILE`: an online copy of the data. */
export function backupCommand(terminal: Terminal): Command {
  return withConfig(new Command('backup'))
    .description('copy the data to a new file, also while the service runs')
    .argument('<file>', 'where the copy goes; it must not exist')
    .option('--json', 'print JSON')
    .action(async (file: string, flags: ConfigFlags & { json?: boolean }) => {
      const target = resolve(file);
      const show = showProgress(terminal);
      if (existsSync(target)) throw new CommandError(`${target} exists; a backup overwrites nothing`);
      await withStore(flags, async ({ backup }) => {
        if (backup === null) throw new CommandError('PostgreSQL has its own: use pg_dump');
        await backup(target, (share) => {
          show(`${String(Math.floor(share * 100))} % copied`);
        }).finally(() => {
          show('');
        });
      });
      if (flags.json === true) printJson(terminal, { file: target });
      else terminal.output.write(`The copy is in ${target}.\n`);
    });
}
