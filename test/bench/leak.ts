import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HEAP_PROBE } from './inline.js';
import { requestBytes } from './load/lane.js';
import { Load, type Work } from './load/measure.js';
import { streamTurn } from './load/turns.js';
import { residentBytes, sleep } from './machine.js';
import type { Context } from './row.js';
import { repeat } from './load/requests.js';
import { startProduct, type Product } from './servers.js';

const MIB = 1_048_576;
/** After so many of each the memory is what it shall stay. */
const FIRST = 1000;
const TURNS = 10;
/** How much more there may be. */
const BOUND = 1.1;

/** How much of the heap is alive after a collection, and how much memory is resident, in MiB. */
interface Held {
  readonly heap: number;
  readonly resident: number;
}

/**
 * A million requests and ten thousand turns: what is held after them against what was held after the first thousand.
 */
export async function leak(context: Context): Promise<string> {
  const { isQuick } = context.pace;
  const [requests, turns] = isQuick ? [100_000, 2000] : [1_000_000, 10_000];
  const flags = ['--import', HEAP_PROBE, '--expose-gc'];
  const product = await startProduct({ upstream: context.upstreamUrl, flags });
  const polls = repeat(requestBytes('GET', '/api/state', { 'X-Session-Id': randomUUID() }));
  await run(product, polls, FIRST);
  await run(product, leakWork(), FIRST);
  const before = await held(product);
  await run(product, polls, requests);
  const afterRequests = await held(product);
  await run(product, leakWork(), turns);
  const after = await held(product);
  await product.end();
  const line = (what: string, { heap, resident }: Held): string =>
    `| ${what} | ${heap.toFixed(1)} | ${resident.toFixed(0)} |`;
  const isWithin = after.heap <= before.heap * BOUND;
  return [
    '| after | heap alive, MiB | resident, MiB |',
    '| --- | --: | --: |',
    line(`the first ${String(FIRST)} requests and turns`, before),
    line(`${requests.toLocaleString('en-US')} requests more`, afterRequests),
    line(`${turns.toLocaleString('en-US')} turns more`, after),
    '',
    `Heap: ${((after.heap / before.heap - 1) * 100).toFixed(1)} % more; ${isWithin ? 'within' : 'NOT within'} 10 %.`,
  ].join('\n');
}

async function run(product: Product, work: Work, units: number): Promise<void> {
  const load = await Load.start(product, 32, work);
  while (load.units < units) await sleep(50);
  await load.stop();
}

/** The probe collects garbage and says what is left, when it gets the signal. */
async function held(product: Product): Promise<Held> {
  await sleep(2000);
  process.kill(product.pid, 'SIGUSR2');
  await sleep(3000);
  const text = readFileSync(`${product.folder}/heap.txt`, 'utf8');
  return { heap: Number(text) / MIB, resident: residentBytes(product.pid) / MIB };
}

/** Threads of ten turns, each deleted after them: what memory remembers of sessions on purpose is no leak. */
function leakWork(): Work {
  return async (lane, _worker, count) => {
    const sessionId = randomUUID();
    for (let n = 0; n < TURNS; n++) {
      await streamTurn(lane, { sessionId, tokens: 10, pace: 0 });
      count(1);
    }
    await lane.ask(requestBytes('DELETE', `/api/sessions/${sessionId}`, { 'X-Session-Id': sessionId }));
  };
}
