import type { Command } from 'commander';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { CommandError, isoTime, printJson, printTable, type Terminal } from './terminal.js';

type Flags = ConfigFlags & { readonly json?: boolean };

/** Characters shown of a client's digest: enough to distinguish clients, too few to identify one. */
const MARK_DIGITS = 8;
const DAY_MS = 86_400_000;
/** Secrets removed per batch, so that a running service is never blocked for long. */
const SECRETS_A_STEP = 500;

/** Adds `secrets list` and `secrets prune`, which show storage use and remove unused secrets. Neither reads a value. */
export function addKeptSecrets(secrets: Command, terminal: Terminal): void {
  withConfig(secrets.command('list'))
    .description('show the secrets stored per App and per client, longest idle clients first')
    .option('--limit <count>', 'maximum number of clients', '100')
    .option('--json', 'print JSON')
    .action((flags: Flags & { readonly limit: string }) => list(terminal, flags));
  withConfig(secrets.command('prune'))
    .description('remove the secrets that were neither stored nor used by a session for a number of days')
    .requiredOption('--idle <days>', 'the number of days; 0: all secrets not stored or used just now')
    .option('--json', 'print JSON')
    .action((flags: Flags & { readonly idle: string }) => prune(terminal, flags));
}

async function list(terminal: Terminal, flags: Flags & { readonly limit: string }): Promise<void> {
  const limit = wholeNumber(flags.limit, '--limit', 1);
  const [apps, clients] = await withStore(flags, ({ store }) =>
    Promise.all([store.secretTotals(), store.listSecretClients(limit)]),
  );
  const shown = clients.map(({ client, secrets, bytes, storedAt, usedAt }) => ({
    client: client.slice(0, MARK_DIGITS),
    ...{ secrets, bytes },
    stored_at: isoTime(storedAt),
    used_at: usedAt === null ? null : isoTime(usedAt),
  }));
  if (flags.json === true) {
    printJson(terminal, { apps, clients: shown });
    return;
  }
  const totals = apps.map(({ app, secrets, bytes }) => [app, String(secrets), String(bytes)]);
  printTable(terminal, ['APP', 'SECRETS', 'BYTES'], totals, 'There are no secrets.');
  if (shown.length === 0) return;
  terminal.output.write('\n');
  const rows = shown.map(({ client, secrets, bytes, stored_at: stored, used_at: used }) => [
    ...[client, String(secrets), String(bytes), stored, used ?? 'never'],
  ]);
  printTable(terminal, ['CLIENT', 'SECRETS', 'BYTES', 'STORED', 'USED'], rows, '');
}

async function prune(terminal: Terminal, flags: Flags & { readonly idle: string }): Promise<void> {
  const before = systemClock.now() - wholeNumber(flags.idle, '--idle', 0) * DAY_MS;
  const removed = await withStore(flags, async ({ store }) => {
    let sum = 0;
    let some: number;
    do {
      some = await store.pruneSecrets(before, SECRETS_A_STEP);
      sum += some;
    } while (some === SECRETS_A_STEP);
    return sum;
  });
  if (flags.json === true) printJson(terminal, { removed });
  else terminal.output.write(`Removed ${String(removed)} secrets.\n`);
}

function wholeNumber(text: string, flag: string, least: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (number < least)
    throw new CommandError(`${flag} takes a whole number from ${String(least)} to 999999`, 2);
  return number;
}
