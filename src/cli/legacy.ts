import { Command } from 'commander';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import { readReport } from '../core/operations/usage.js';
import { nameOf, type LegacyUser, type UsageReport } from '../core/operations/usage-report.js';
import { ago } from '../core/operations/usage-words.js';
import { reportCsv, reportJson } from '../surfaces/admin/report.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { chartLines } from './legacy-chart.js';
import { CommandError, isoTime, printable, printJson, printTable, type Terminal } from './terminal.js';

interface Flags extends ConfigFlags {
  readonly days: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly check?: boolean;
}

/** The retention of usage counts, in days. */
const MAX_DAYS = 400;

/** The exit codes of `--check`. 1 and 2 mean that the command failed. */
const EXIT_CODES = { unused: 0, used: 3, too_early: 4 } as const;

/** `legacy report`: shows who still uses the legacy surface, and whether it may be switched off. */
export function legacyCommand(terminal: Terminal): Command {
  const legacy = new Command('legacy').description('report on the use of the legacy surface');
  withConfig(legacy.command('report'))
    .description('show who still uses the legacy surface, and whether it may be switched off')
    .option('--days <count>', `how far back to look, 1 to ${String(MAX_DAYS)}`, '30')
    .option(
      '--check',
      'exit with 0 if it may be switched off, 3 if it is in use, 4 if it is too early to say',
    )
    .option('--json', 'print JSON')
    .option('--csv', 'print a line for each client and endpoint as CSV')
    .action((flags: Flags) => report(terminal, flags));
  return legacy;
}

async function report(terminal: Terminal, flags: Flags): Promise<void> {
  const days = /^\d{1,3}$/.test(flags.days) ? Number(flags.days) : 0;
  if (flags.json === true && flags.csv === true) throw new CommandError('choose one of --json and --csv', 2);
  if (days < 1 || days > MAX_DAYS) {
    throw new CommandError(`--days takes a whole number from 1 to ${String(MAX_DAYS)}`, 2);
  }
  await withStore(flags, async ({ store }, { surfaces }) => {
    const found = await readReport(store, { days, at: systemClock.now() });
    if (flags.json === true) printJson(terminal, reportJson(found));
    else if (flags.csv === true) terminal.output.write(reportCsv(found));
    else printReport(terminal, found, surfaces.includes('legacy'));
    if (flags.check === true) terminal.setExitCode(EXIT_CODES[found.verdict.kind]);
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
