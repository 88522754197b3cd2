import { totalOf, type Entry, type Journal } from './journal.js';
import { ROWS, type Row } from './rows.js';

/** What the page says of the machine that the runs were made on. */
export interface Machine {
  /** ISO 8601, without the time. */
  readonly date: string;
  readonly cores: number;
  readonly node: string;
}

const number = new Intl.NumberFormat('en-US');

/** Writes the page of the proof: one table of all rows, and how to run each. */
export function pageOf(journal: Journal, { date, cores, node }: Machine): string {
  const rows = ROWS.map((row) => rowOf(row, journal.of(row.name)));
  const causes = ROWS.flatMap((row) => causesOf(row, journal.of(row.name)));
  const latencies = ROWS.flatMap((row) => latenciesOf(row, journal.of(row.name)));
  const commands = ROWS.map(({ name, command }) => `| \`${name}\` | \`${command.join(' ')}\` |`);
  return `# Proof

What the service was put through, and what went wrong. \`npm run proof\` runs the rows that are short of their goal, adds its runs to the journal
[proof.json](proof.json), and writes this page. ${date}, Node ${node}, ${String(cores)} cores, Linux; each run names its commit and its seed in the journal.

| Row | What happens | Counted | Goal | Faults | Runs |
|---|---|--:|--:|--:|--:|
${rows.join('\n')}

A fault is anything that must not happen: an acknowledged message lost or doubled, a turn that never ends, an event lost or shown twice, a text that
differs from what was said, a wallet outcome lost, doubled or reported wrongly, a 5xx without a reason, an exit of the service by itself. What each program
looks for is in [test/chaos](../test/chaos/README.md) and [test/proof](../test/proof/README.md).
${causes.length === 0 ? '' : `\n${causes.join('\n')}\n`}${latencies.length === 0 ? '' : `\n## Latencies\n\nThe median of all runs, and the slowest run.\n\n| | Median | Slowest |\n|---|--:|--:|\n${latencies.join('\n')}\n`}
## Each row alone

| Row | Command |
|---|---|
${commands.join('\n')}

\`npm run proof -- --only kills --minutes 30\` gives one row half an hour. \`--seed\` of a program repeats its choices, not the timing.
`;
}

function rowOf({ name, title, counted, goal, unit }: Row, runs: readonly Entry[]): string {
  const countOf = (some: readonly Entry[]): string => `${number.format(totalOf(some, counted))} ${unit}`;
  const cells = [
    `\`${name}\``,
    title,
    countOf(runs),
    number.format(goal),
    faultsOf(runs, countOf),
    String(runs.length),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The number of faults; of a row that has some, also which commit had the last one, and what was counted since. */
function faultsOf(runs: readonly Entry[], countOf: (runs: readonly Entry[]) => string): string {
  const faults = runs.reduce((sum, run) => sum + run.faults, 0);
  const last = runs.findLastIndex((run) => run.faults > 0);
  const at = runs[last];
  if (at === undefined) return String(faults);
  const since = runs.slice(last + 1);
  const none = since.length === 0 ? '' : `; none in ${countOf(since)} since`;
  return `${String(faults)}, the last in ${at.commit}${none}`;
}

function causesOf({ name }: Row, runs: readonly Entry[]): readonly string[] {
  return runs.flatMap(({ cause, faults, seed }) =>
    cause === undefined ? [] : [`- \`${name}\`, seed ${seed}: ${String(faults)} faults. ${cause}`],
  );
}

function latenciesOf({ name }: Row, runs: readonly Entry[]): readonly string[] {
  const names = new Set(runs.flatMap(({ latencies = {} }) => Object.keys(latencies)));
  return [...names].map((what) => {
    const values = runs.flatMap(({ latencies = {} }) => latencies[what] ?? []).sort((a, b) => a - b);
    const [median, slowest] = [values[Math.floor(values.length / 2)], values.at(-1)];
    return `| \`${name}\`: ${what} | ${String(median)} | ${String(slowest)} |`;
  });
}
