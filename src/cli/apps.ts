import { Command } from 'commander';
import { configOf, withConfig, type ConfigFlags } from './configured.js';
import { printJson, printTable, type Terminal } from './terminal.js';

/** `apps list`: lists the configured Apps. */
export function appsCommand(terminal: Terminal): Command {
  const apps = new Command('apps').description('show the configured Apps');
  withConfig(apps.command('list'))
    .description('list the Apps with their rigs, tools and secret slots')
    .option('--json', 'print JSON')
    .action(async (flags: ConfigFlags & { json?: boolean }) => {
      const config = await configOf(flags);
      if (flags.json === true) {
        const rows = config.apps.map(({ name, rigs, tools, secrets, busyStrategy }) => ({
          name,
          rigs,
          tools,
          secrets,
          busy_strategy: busyStrategy ?? config.busyStrategy,
        }));
        printJson(terminal, rows);
        return;
      }
      const rows = config.apps.map(({ name, rigs, tools, secrets }) => [
        name,
        rigs?.join(',') ?? 'all',
        tools === null ? 'all' : tools.join(',') || 'none',
        secrets.map((slot) => (slot.required ? `${slot.name}*` : slot.name)).join(',') || 'none',
      ]);
      printTable(terminal, ['NAME', 'RIGS', 'TOOLS', 'SECRETS (* required)'], rows, 'There are no Apps.');
    });
  return apps;
}
