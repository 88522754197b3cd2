/** Compares builds of the service with each other, in turn and in short slices. See `--help`. */
import { basename, resolve } from 'node:path';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { exitOnSignals } from '../support/server-process.js';
import { Lane } from './load/lane.js';
import { stayAwake, type Work } from './load/measure.js';
import { cpuSeconds, pinLoad, quantile } from './machine.js';
import { seed } from './seed.js';
import { makeFolder, startProduct, startProgram, type Product } from './servers.js';
import { seedWorkloads, WORKLOADS, workloadOf } from './workloads.js';

const HELP = `npx tsx test/bench/ab.ts [--rows ROW[,ROW…]] [--slices N] [--warm S] [--node FILE] [--json FILE] BASE FOLDER…

  FOLDER    a build: a folder with dist/ and node_modules; each is compared with BASE
  --rows    some of: ${Object.keys(WORKLOADS).join(', ')}
  --slices  how often a build and the base are loaded in turn (20)
  --warm    before the first slice of a row, in CPU seconds of each server (2)
  --node    the executable of Node for the servers; absent: that of this process
  --json    writes the ratios of every slice
`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: 'turn,token,poll,create,state,notmodified' },
    slices: { type: 'string', default: '20' },
    warm: { type: 'string', default: '2' },
    node: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** A build under the load of a row. */
interface Side {
  readonly product: Product;
  readonly lanes: readonly Lane[];
  readonly repeats: number;
  readonly work: Work;
  /** Units of work for each CPU second, by slice. */
  readonly rates: number[];
}

if (options.help || positionals.length < 2) process.stdout.write(HELP);
else await main();

async function main(): Promise<void> {
  exitOnSignals();
  pinLoad();
  const rows = options.rows.split(',');
  rows.forEach(workloadOf);
  const upstream = await startProgram('upstream', [], 'load');
  const upstreamUrl = `http://127.0.0.1:${String(upstream.port)}`;
  const seeded = makeFolder();
  await seed(seeded, seedWorkloads);
  const figures: Record<string, Record<string, readonly number[]>> = {};
  const [base = '', ...others] = positionals.map((folder) => resolve(folder));
  for (const other of others) {
    // A base of its own: after the work of several comparisons it would be compiled better than the build beside it.
    const products = await Promise.all([base, other].map((app) => startBuild(app, upstreamUrl, seeded)));
    const [first, second] = products;
    if (first === undefined || second === undefined) break;
    for (const row of rows) {
      const ratios = await compareBuilds(row, first, second);
      figures[basename(other)] = { ...figures[basename(other)], [row]: ratios };
      process.stdout.write(`${describe(row, basename(other), ratios)}\n`);
    }
    for (const product of products) await endBuild(product);
  }
  rmSync(seeded, { recursive: true });
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
  process.exit(0);
}

/** Starts a build on a copy of the data. */
function startBuild(app: string, upstream: string, seeded: string): Promise<Product> {
  const folder = makeFolder();
  cpSync(seeded, folder, { recursive: true });
  return startProduct({ upstream, app, node: options.node, folder });
}

async function endBuild(product: Product): Promise<void> {
  await product.end();
  rmSync(product.folder, { recursive: true, force: true });
}

/**
 * Loads both builds in turn, in slices of a fixed amount of work. The slices are short, because the speed of a virtual
 * machine's core can change by half within seconds. Returns the second build's rate as a share of the first one's.
 */
async function compareBuilds(row: string, base: Product, other: Product): Promise<readonly number[]> {
  const sides = await Promise.all([base, other].map((product) => open(row, product)));
  for (const side of sides) await warmUp(side, Number(options.warm));
  const slices = Number(options.slices);
  for (let slice = 0; slice < slices; slice++)
    for (const side of slice % 2 === 0 ? sides : sides.toReversed()) side.rates.push(await measure(side));
  for (const { lanes } of sides) for (const lane of lanes) lane.close();
  const [before, after] = sides.map(({ rates }) => rates);
  return Array.from({ length: slices }, (_, slice) => (after?.[slice] ?? NaN) / (before?.[slice] ?? NaN));
}

async function open(row: string, product: Product): Promise<Side> {
  const { workers, repeats, work } = workloadOf(row);
  const lanes = await Promise.all(Array.from({ length: workers }, () => Lane.open(product.port)));
  return { product, lanes, repeats, work: await work(product), rates: [] };
}

async function warmUp(side: Side, seconds: number): Promise<void> {
  const { pid } = side.product;
  const until = cpuSeconds(pid) + seconds;
  while (cpuSeconds(pid) < until) await measure(side);
}

/** Has every worker repeat its work. Returns the units of work for each CPU second of the server. */
async function measure({ product, lanes, repeats, work }: Side): Promise<number> {
  const before = cpuSeconds(product.pid);
  let units = 0;
  const count = (more: number): void => {
    units += more;
  };
  const running = lanes.map(async (lane, worker) => {
    for (let n = 0; n < repeats; n++) await work(lane, worker, count);
  });
  const awake = stayAwake();
  await Promise.all(running).finally(awake.stop);
  return units / (cpuSeconds(product.pid) - before);
}

/** The median ratio, with the quartiles. */
function describe(row: string, name: string, ratios: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
  return `${row.padEnd(12)} ${String(middle)}  (${String(low)} to ${String(high)})  ${name}`;
}
