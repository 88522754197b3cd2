/** What nodes on PostgreSQL and Redis cost, compared with a node on SQLite. See `--help`. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals } from '../../support/server-process.js';
import { pinLoad } from '../machine.js';
import { startProgram } from '../servers.js';
import { measureRows, ROWS, type Line, type Pace } from './rows.js';
import { measureTakeover } from './takeover.js';

const HELP = `npm run bench:nodes -- [--quick] [--only ROW[,ROW…]] [--rounds N] [--seconds S] [--no-build]
npm run bench:nodes -- --takeover N [--no-build]

The work for each CPU second of a node on PostgreSQL and Redis as a share of that of a node on SQLite, in one run, in turn. It counts the
CPU time of everything that takes part: the nodes, all processes of PostgreSQL (with fsync), and Redis. With several nodes each request goes
to the next one, or each session to one of them. PostgreSQL and Redis are started for it: it needs redis-server, initdb and postgres.

  --quick     one short round: for a look, not for a verdict
  --only      some of: ${ROWS.join(', ')}
  --takeover  kills a node with N running turns, and measures when another node continues them
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    takeover: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(HELP);
else process.exit(await main());

async function main(): Promise<number> {
  exitOnSignals();
  if (!options['no-build']) await buildCheckout();
  pinLoad();
  if (options.takeover !== undefined) {
    const { text, isMet } = await measureTakeover(Number(options.takeover));
    process.stdout.write(`${text}\n`);
    return isMet ? 0 : 1;
  }
  const ids = options.only?.split(',') ?? ROWS;
  const unknown = ids.filter((id) => !ROWS.includes(id));
  if (unknown.length > 0) throw new Error(`there is no row ${unknown.join(', ')}\n${HELP}`);
  const { quick } = options;
  const pace: Pace = {
    rounds: Number(options.rounds ?? (quick ? 1 : 5)),
    warm: quick ? 1.5 : 10,
    seconds: Number(options.seconds ?? (quick ? 1.5 : 3)),
  };
  const upstream = await startProgram('upstream', [], 'load');
  const how = `${String(pace.rounds)} rounds of ${String(pace.seconds)} CPU s, medians`;
  process.stdout.write(`Node ${process.versions.node}, ${String(cpus().length)} cores; ${how}.\n\n`);
  process.stdout.write(
    '| | first side, a CPU second | second side | got | bound | | node, PostgreSQL, Redis: ms a unit |\n',
  );
  process.stdout.write('|---|--:|--:|--:|--:|---|---|\n');
  const verdicts: boolean[] = [];
  await measureRows(ids, `http://127.0.0.1:${String(upstream.port)}`, pace, (line) => {
    verdicts.push(line.isMet);
    process.stdout.write(`${render(line)}\n`);
  });
  await upstream.end();
  return verdicts.every(Boolean) ? 0 : 1;
}

function render({ row, figures, got, bound, isMet, parts }: Line): string {
  const [first, second] = figures.map((figure) => figure.toFixed(0));
  const spent = [parts.nodes, parts.postgres, parts.redis].map((part) => part.toFixed(3)).join(', ');
  const verdict = bound === null ? ['', ''] : [bound.toFixed(2), isMet ? 'yes' : '**short**'];
  const cells = [row, first, second, got.toFixed(2), ...verdict, spent];
  return `| ${cells.join(' | ')} |`;
}
