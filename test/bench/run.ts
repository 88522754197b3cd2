/** Measures the service against what the machine can do at most, and against a bare reference. See `--help`. */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals } from '../support/server-process.js';
import { curves } from './curves.js';
import { idle } from './idle.js';
import { leak } from './leak.js';
import { canPin, pinLoad } from './machine.js';
import type { Context, Outcome, Pace } from './row.js';
import { profile } from './profile.js';
import { rows } from './rows.js';
import { startProgram } from './servers.js';
import { WORKLOADS } from './workloads.js';
import { describeRun, renderTable } from './table.js';

const HELP = `npm run bench -- [--quick] [--only ROW[,ROW…]] [--rounds N] [--seconds S] [--json FILE] [--no-build]
npm run bench -- --profile WHAT [--top N]
npm run bench -- --curves | --leak [--quick] | --idle N

  --quick   within three minutes: shorter rounds, and only the rows that have bounds
  --only    some of: ${rows.map(({ id }) => id).join(', ')}
  --profile where the time of the server goes: ${Object.keys(WORKLOADS).join(', ')}
  --curves  how cost grows with the length of a thread, the number of streams and of threads
  --leak    memory after a million requests and ten thousand turns
  --idle    memory of 6,000 idle streams, and of N
  --json    writes every figure of every round
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
    curves: { type: 'boolean', default: false },
    leak: { type: 'boolean', default: false },
    idle: { type: 'string' },
    top: { type: 'string', default: '10' },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  exitOnSignals();
  if (!options['no-build']) await buildCheckout();
  pinLoad();
  if (!canPin) say('No taskset, or one core: nothing is bound to a core.');
  const isQuick = options.quick;
  const seconds = Number(options.seconds ?? (isQuick ? 0.6 : 3));
  const pace: Pace = { rounds: Number(options.rounds), warm: isQuick ? 0.5 : 4, seconds, isQuick };
  const upstream = await startProgram('upstream', [], 'load');
  const context: Context = { pace, upstream, upstreamUrl: `http://127.0.0.1:${String(upstream.port)}`, say };
  if (options.profile !== undefined) {
    process.stdout.write(`${await profile(context, options.profile, Number(options.top))}\n`);
    process.exit(0);
  }
  if (options.idle !== undefined) {
    process.stdout.write(`${await idle(context, Number(options.idle))}\n`);
    process.exit(0);
  }
  if (options.curves || options.leak) {
    if (options.curves) process.stdout.write(`${await curves(context)}\n`);
    if (options.leak) process.stdout.write(`${await leak(context)}\n`);
    process.exit(0);
  }
  const wanted = options.only?.split(',');
  const unknown = wanted?.filter((id) => !rows.some((row) => row.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`there is no row ${unknown.join(', ')}\n${HELP}`);
  const begun = performance.now();
  const outcomes: Outcome[] = [];
  for (const row of rows.filter(({ id }) => wanted?.includes(id) ?? true)) {
    const at = performance.now();
    outcomes.push(...(await row.run(context)));
    say(`${row.id}: ${((performance.now() - at) / 1000).toFixed(0)} s`);
  }
  await upstream.end();
  process.stdout.write(`\n${describeRun(pace)}\n\n${renderTable(outcomes)}\n`);
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ run: describeRun(pace), outcomes }, null, 2)}\n`);
  }
  say(`${((performance.now() - begun) / 1000).toFixed(0)} s`);
  process.exit(0);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
