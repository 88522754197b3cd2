import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/server-process.js';
import { IMPORT_ALL, listImports } from '../inline.js';
import { fieldsOf } from '../json.js';
import { Lane, requestBytes } from '../load/lane.js';
import { median, peakBytes, quantile, residentBytes } from '../machine.js';
import type { Context, Outcome, Row } from '../row.js';
import { seed, seedMessages, seedWallet } from '../seed.js';
import { makeFolder, startNode, startProduct } from '../servers.js';

const PROGRAMS = join(ROOT, 'test/bench/programs');
const MIB = 1_048_576;
const WALLET = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

async function starts(context: Context): Promise<readonly Outcome[]> {
  const { isQuick, rounds } = context.pace;
  const messages = isQuick ? 20_000 : 100_000;
  const [empty, filled] = [makeFolder(), makeFolder()];
  await seed(empty, () => Promise.resolve());
  await seed(filled, (store) => seedMessages(store, messages));
  const modules = await noteImports(context);
  const times: { imports: number; fresh: number; empty: number; filled: number }[] = [];
  const resident: number[] = [];
  for (let round = 0; round < (isQuick ? rounds : rounds * 3); round++) {
    const imports = await timeImports(modules);
    const fresh = await startProduct({ upstream: context.upstreamUrl });
    resident.push(residentBytes(fresh.pid) / MIB);
    await fresh.end();
    const onEmpty = await startProduct({ upstream: context.upstreamUrl, folder: empty });
    await onEmpty.end();
    const onFilled = await startProduct({ upstream: context.upstreamUrl, folder: filled });
    await onFilled.end();
    times.push({ imports, fresh: fresh.startMs, empty: onEmpty.startMs, filled: onFilled.startMs });
  }
  for (const folder of [empty, filled]) rmSync(folder, { recursive: true, force: true });
  rmSync(modules);
  const imports = median(times.map((time) => time.imports));
  const line = (
    what: string,
    of: 'fresh' | 'empty' | 'filled',
    bounds: { required?: number; aim?: number },
  ): Outcome => {
    const product = median(times.map((time) => time[of]));
    const row = `start to healthy, ${what} ÷ imports alone`;
    const pairs = times.map((time) => [time[of], time.imports]);
    return {
      row,
      unit: 'ms',
      product,
      against: imports,
      got: product / imports,
      ...bounds,
      better: 'less',
      rounds: pairs,
    };
  };
  const atStart = median(resident);
  return [
    line('empty database', 'empty', { required: 1.4, aim: 1.25 }),
    line(`${messages.toLocaleString('en-US')} messages`, 'filled', { required: 1.4, aim: 1.25 }),
    line('no database yet: it is made', 'fresh', {}),
    {
      row: 'resident at start',
      unit: 'MiB',
      product: atStart,
      got: atStart,
      better: 'less',
      rounds: resident.map((mib) => [mib]),
    },
  ];
}

/** The modules of the service that a start imports, as a file with a line each. */
async function noteImports({ upstreamUrl }: Context): Promise<string> {
  const list = join(makeFolder(), 'imports');
  const flags = ['--import', listImports(list)];
  const product = await startProduct({ upstream: upstreamUrl, flags });
  await product.end();
  if (!existsSync(list)) throw new Error('the imports were not listed');
  const all = readFileSync(list, 'utf8').trim().split('\n');
  // The entry starts the service; the rest of what it imports is in the list.
  const modules = [...new Set(all)].filter(
    (url) => url.startsWith(`file://${ROOT}dist/`) && !url.endsWith('/dist/main.js'),
  );
  writeFileSync(list, modules.join('\n'));
  return list;
}

async function timeImports(list: string): Promise<number> {
  const begun = performance.now();
  const child = startNode(['--input-type=module', '--eval', IMPORT_ALL, list], {
    core: 'server',
    out: 'pipe',
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error('the modules cannot be imported alone');
  return performance.now() - begun;
}

async function loop(context: Context): Promise<readonly Outcome[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < context.pace.rounds; round++) {
    const folder = makeFolder();
    const seconds = String(Math.max(context.pace.seconds, 2));
    const file = join(PROGRAMS, 'write-rows.ts');
    const args = ['--import', 'tsx', file, join(folder, 'rows.db'), '10000', seconds];
    const child = startNode(args, { core: 'server', out: 'pipe' });
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
    await new Promise((resolve) => child.once('close', resolve));
    const { rows, p50, p99 } = fieldsOf(said);
    rounds.push([Number(p99), Number(p50), Number(rows)]);
    rmSync(folder, { recursive: true, force: true });
  }
  const p99 = median(rounds.map(([value = NaN]) => value));
  const rows = median(rounds.map(([, , value = NaN]) => value));
  const row = `event-loop p99 while ${Math.round(rows).toLocaleString('en-US')} durable rows/s are written`;
  return [{ row, unit: 'ms', product: p99, got: p99, required: 3, aim: 2, better: 'less', rounds }];
}

async function list(context: Context): Promise<readonly Outcome[]> {
  const folder = makeFolder();
  const threads = context.pace.isQuick ? 20_000 : 100_000;
  await seed(folder, (store) => seedWallet(store, WALLET, threads));
  const product = await startProduct({ upstream: context.upstreamUrl, folder });
  const lane = await Lane.open(product.port);
  const request = requestBytes('GET', `/api/sessions?public_key=${WALLET}`, { 'X-Session-Id': randomUUID() });
  const rounds: number[][] = [];
  for (let round = 0; round < context.pace.rounds; round++) {
    const times: number[] = [];
    for (let n = 0; n < 200; n++) {
      const begun = performance.now();
      const { status, text } = await lane.ask(request);
      if (status !== 200) throw new Error(text);
      times.push(performance.now() - begun);
    }
    rounds.push([quantile(times, 0.99), quantile(times, 0.5)]);
  }
  const peak = peakBytes(product.pid) / MIB;
  lane.close();
  await product.end();
  rmSync(folder, { recursive: true, force: true });
  const p99 = median(rounds.map(([value = NaN]) => value));
  const row = `thread list of a wallet with ${threads.toLocaleString('en-US')} threads, a page of 1,000, p99`;
  return [
    { row, unit: 'ms', product: p99, got: p99, required: 20, aim: 5, better: 'less', rounds },
    { row: 'resident at most, meanwhile', unit: 'MiB', product: peak, got: peak, better: 'less', rounds: [] },
  ];
}

export const processRows: readonly Row[] = [
  { id: 'start', run: starts },
  { id: 'loop', run: loop },
  { id: 'list', run: list },
];
