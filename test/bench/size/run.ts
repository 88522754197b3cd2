/** How the latency of requests depends on the size of the database and of threads. See `--help`. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals } from '../../support/server-process.js';
import { pinLoad } from '../machine.js';
import { startProgram } from '../servers.js';
import { LONG, openDatabases, SHORT, type Filled } from './databases.js';
import { compareDatabases, compareStarts, compareThreads, MAX_SAMPLES, type Line } from './rows.js';

const HELP = `npm run bench:size -- [--quick] [--sessions N] [--samples N] [--server URL] [--fill] [--no-build]

Latencies on a PostgreSQL with 1,000,000 sessions and 10,000,000 messages, compared with a database of 2,000 sessions on the same server, in
turn; and of threads of 10,000 messages, compared with threads of 100. The databases are filled by SQL, which takes minutes and 5 GB.

  --quick     20,000 sessions and fewer samples: for a look, not for a verdict
  --sessions  how many sessions the large database has
  --server    a server on which the databases stay, so that a later run need not fill them; absent: one that is started for the run
  --fill      fills the databases of --server, and ends
`;
const SMALL = 2_000;
/** Filled to small, and a long thread to a short one. */
const BOUND = 1.3;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    sessions: { type: 'string' },
    samples: { type: 'string' },
    server: { type: 'string' },
    fill: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) say(HELP);
else process.exit(await main());

async function main(): Promise<number> {
  exitOnSignals();
  const { quick, server, fill } = options;
  const large = Number(options.sessions ?? (quick ? 20_000 : 1_000_000));
  const samples = Math.min(MAX_SAMPLES, Number(options.samples ?? (quick ? 50 : 300)));
  if (!options['no-build'] && !fill) await buildCheckout();
  const databases = await openDatabases({ small: SMALL, large, server }, say);
  if (fill) return 0;
  pinLoad();
  const { port } = await startProgram('upstream', [], 'load');
  const upstream = `http://127.0.0.1:${String(port)}`;
  say(
    `Node ${process.versions.node}, ${String(cpus().length)} cores; medians of ${String(samples)} requests in turn, in milliseconds.`,
  );
  const lines = [await compareStarts(databases, upstream)];
  lines.push(...(await compareDatabases(databases, { upstream, samples })));
  say(table(`${describe(databases.small)} | ${describe(databases.large)}`, lines));
  const threads = await compareThreads(databases, upstream);
  say(table(`${String(SHORT)} messages | ${LONG.toLocaleString('en-US')} messages`, threads));
  await databases.close();
  return 0;
}

function describe({ filling, size }: Filled): string {
  return `${filling.sessions.toLocaleString('en-US')} sessions (${size})`;
}

function table(sides: string, lines: readonly Line[]): string {
  const rows = lines.map(({ row, small, large }) => {
    const ratio = large / small;
    return `| ${row} | ${small.toFixed(2)} | ${large.toFixed(2)} | ${ratio.toFixed(2)} | ${ratio <= BOUND ? '' : 'over'} |`;
  });
  return ['', `| | ${sides} | ratio | |`, '|---|--:|--:|--:|---|', ...rows].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
