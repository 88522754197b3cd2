import { Command } from 'commander';
import { createRigs } from '../composition/rigs.js';
import { configOf, withConfig, type ConfigFlags } from './configured.js';
import { printJson, printTable, type Terminal } from './terminal.js';

/** `rigs list`: lists the rigs that the service would offer. */
export function rigsCommand(terminal: Terminal): Command {
  const rigs = new Command('rigs').description('show the configured rigs (models)');
  withConfig(rigs.command('list'))
    .description('list the rigs in order; the first is the default of an App without a list of its own')
    .option('--json', 'print JSON')
    .action(async (flags: ConfigFlags & { json?: boolean }) => {
      const all = await createRigs(await configOf(flags));
      if (flags.json === true) {
        const rows = all.map(({ id, name, provider, contextTokens }) => ({
          id,
          name,
          provider,
          context_tokens: contextTokens,
        }));
        printJson(terminal, rows);
        return;
      }
      const rows = all.map(({ id, name, provider, contextTokens }) => [
        id,
        name,
        provider,
        String(contextTokens),
      ]);
      printTable(terminal, ['ID', 'NAME', 'PROVIDER', 'CONTEXT TOKENS'], rows, 'There are no rigs.');
    });
  return rigs;
}
