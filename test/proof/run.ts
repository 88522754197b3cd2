/** Runs the rows of the proof, keeps their figures in a journal, and writes docs/proof.md. See `--help`. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCheckout, exitOnSignals, ROOT } from '../support/server-process.js';
import { Journal, totalOf } from './journal.js';
import { Outcome } from './outcome.js';
import { pageOf } from './page.js';
import { ROWS, type Row } from './rows.js';

const HELP = `npm run proof -- [options]

  --only A,B        these rows alone, whether their goal is reached or not
  --minutes M       how long a run of a row that is measured by time takes (10)
  --runs N          at most so many runs of each row, until its goal is reached (1)
  --page            writes the page from the journal, and runs nothing
  --no-build        use dist/ as it is

Rows
${ROWS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}
`;
const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    runs: { type: 'string', default: '1' },
    page: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(HELP);
else process.exit(await main());

async function main(): Promise<number> {
  exitOnSignals();
  const names = options.only?.split(',') ?? ROWS.map(({ name }) => name);
  const unknown = names.find((name) => !ROWS.some((row) => row.name === name));
  if (unknown !== undefined) {
    process.stderr.write(
      `there is no row ${unknown}; there are ${ROWS.map(({ name }) => name).join(', ')}\n`,
    );
    return 2;
  }
  const journal = new Journal(join(ROOT, 'docs/proof.json'));
  if (!options.page && !options['no-build']) await buildCheckout();
  let failed = 0;
  for (const row of options.page ? [] : ROWS.filter(({ name }) => names.includes(name))) {
    for (let times = 0; times < Number(options.runs); times++) {
      const done = totalOf(journal.of(row.name), row.counted);
      if (done >= row.goal && (options.only === undefined || times > 0)) break;
      if (!(await run(row, journal))) failed++;
      writePage(journal);
    }
  }
  writePage(journal);
  return failed === 0 ? 0 : 1;
}

/** Runs a row once. True: without faults. @throws when the program left no figures */
async function run(row: Row, journal: Journal): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'diptych-proof-run-'));
  const json = join(directory, 'outcome.json');
  const [command, ...args] = [...row.command, ...extentOf(row), '--json', json];
  process.stdout.write(`\n== ${row.name}: ${[command, ...args].join(' ')}\n`);
  const began = new Date();
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit' });
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  const outcome = Outcome.parse(JSON.parse(readFileSync(json, 'utf8')));
  rmSync(directory, { recursive: true });
  journal.add({
    row: row.name,
    ...outcome,
    at: began.toISOString(),
    seconds: Math.round((Date.now() - began.getTime()) / 1000),
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim(),
    node: process.versions.node,
  });
  return outcome.faults === 0;
}

function extentOf({ each, counted }: Row): readonly string[] {
  if (each !== undefined) return ['--count', String(each)];
  const minutes = Number(options.minutes);
  return counted === 'seconds' ? ['--seconds', String(minutes * 60)] : ['--minutes', String(minutes)];
}

function writePage(journal: Journal): void {
  const page = pageOf(journal, {
    date: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
    node: process.versions.node,
  });
  writeFileSync(join(ROOT, 'docs/proof.md'), page);
}
