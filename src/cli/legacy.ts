import { Command } from 'commander';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import { readReport } from '../core/operations/usage.js';
import { nameOf, type LegacyUser, type UsageReport } from '../core/operations/usage-report.js';
import { ago } from '../core/operations/usage-words.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { chartLines } from './legacy-chart.js';
import { CommandError, isoTime, printable, printJson, printTable, type Terminal } from './terminal.js';

interface Flags extends ConfigFlags {
  readonly days: string;
  readonly json?: boolean;
  readonly check?: boolean;
}

/** The retention of usage counts, in days. */
const MAX_DAYS = 400;

/** `legacy report`: shows who still uses the legacy surface, and whether it may be switched off. */
export function legacyCommand(terminal: Terminal): Command {
  const legacy = new Command('legacy').description('report on the use of the legacy surface');
  withConfig(legacy.command('report'))
    .description('show who still uses the legacy surface, and whether it may be switched off')
    .option('--days <count>', `how far back to look, 1 to ${String(MAX_DAYS)}`, '30')
    .option('--check', 'exit with 1 unless it may be switched off')
    .option('--json', 'print JSON')
    .action((flags: Flags) => report(terminal, flags));
  return legacy;
}

async function report(terminal: Terminal, flags: Flags): Promise<void> {
  const days = /^\d{1,3}$/.test(flags.days) ? Number(flags.days) : 0;
  if (days < 1 || days > MAX_DAYS) {
    throw new CommandError(`--days takes a whole number from 1 to ${String(MAX_DAYS)}`, 2);
  }
  await withStore(flags, async ({ store }, { surfaces }) => {
    const found = await readReport(store, { days, at: systemClock.now() });
    if (flags.json === true) printJson(terminal, toJson(found));
    else printReport(terminal, found, surfaces.includes('legacy'));
    if (flags.check === true && found.verdict.kind !== 'unused') terminal.setExitCode(1);
  });
}

/**
 * Prints the report as text, with a chart on a terminal.
 * @param isExposed whether this node serves the legacy surface
 */
export function printReport(
  terminal: Pick<Terminal, 'output' | 'env'>,
  found: UsageReport,
  isExposed: boolean,
): void {
  const say = (line: string): void => {
    terminal.output.write(`${printable(line)}\n`);
  };
  say('May the legacy surface be switched off?');
  say(found.verdict.text);
  if (!isExposed) say('This configuration does not expose it: SURFACES does not list it.');
  if (terminal.output.isTTY === true && found.countingSince !== null) {
    say('');
    for (const line of chartLines(found.history)) say(line);
  }
  if (found.users.length === 0) return;
  say('');
  printTable(
    terminal,
    ['WHO', 'REQUESTS', 'FIRST SEEN', 'LAST SEEN', 'ENDPOINTS'],
    found.users.flatMap((user) => rowsOf(user, found.at)),
    '',
  );
}

/** Formats a user as table rows, one per endpoint. */
function rowsOf(user: LegacyUser, at: number): string[][] {
  const [first = '', ...others] = user.endpoints.map(
    ({ endpoint, requests }) => `${endpoint} (${String(requests)})`,
  );
  const seen = [isoTime(user.firstAt).slice(0, 10), ago(at - user.lastAt)];
  return [
    [nameOf(user), String(user.requests), ...seen, first],
    ...others.map((endpoint) => ['', '', '', '', endpoint]),
  ];
}

function toJson(found: UsageReport) {
  const timeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));
  return {
    at: isoTime(found.at),
    days: found.days,
    verdict: found.verdict,
    counting_since: timeOrNull(found.countingSince),
    last_used_at: timeOrNull(found.lastUsedAt),
    users: found.users.map(({ client, key, requests, firstAt, lastAt, endpoints }) => ({
      ...{ client, key, requests, first_at: isoTime(firstAt), last_at: isoTime(lastAt), endpoints },
    })),
    history: found.history.map(({ day, current, legacy }) => ({
      ...{ day: isoTime(day).slice(0, 10), current, legacy },
    })),
  };
}
