import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { streamTurn } from './load/turns.js';
import { Lane, requestBytes } from './load/lane.js';
import { Load, type Work } from './load/measure.js';
import { median } from './machine.js';
import type { Context } from './row.js';
import { OpenStreams, STREAMS_OF_SESSION } from './rows/streams.js';
import { repeat } from './load/requests.js';
import { seed, seedThread, seedWallet } from './seed.js';
import { makeFolder, startProduct, type Product } from './servers.js';

const WALLET = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

/** A line of a table: what grows, and what each thing costs there. */
type Line = readonly (string | number)[];

/**
 * How cost grows with the length of a thread, the number of streams, and the number of threads: three tables of
 * Markdown.
 */
export async function curves(context: Context): Promise<string> {
  const { isQuick } = context.pace;
  const lengths = isQuick ? [10, 100, 1000] : [10, 100, 1000, 10_000];
  const stored = isQuick ? [100, 10_000] : [100, 10_000, 100_000, 1_000_000];
  const messages: Line[] = [];
  for (const length of lengths) messages.push(await ofThread(context, length));
  const streams: Line[] = [];
  for (const count of [1, 10, STREAMS_OF_SESSION]) streams.push(await ofStreams(context, count));
  const threads: Line[] = [];
  for (const count of stored) threads.push(await ofThreads(context, count));
  return [
    table(
      ['messages', 'state, µs CPU', 'state of 304, µs CPU', 'first state, ms', 'turn of 10 tokens, µs CPU'],
      messages,
    ),
    table(['streams', 'one event, µs CPU a stream'], streams),
    table(['stored threads', 'page of 100, µs CPU', 'start, ms'], threads),
  ].join('\n\n');
}

async function ofThread(context: Context, length: number): Promise<Line> {
  const folder = makeFolder();
  const id = randomUUID();
  await seed(folder, (store) => seedThread(store, id, length));
  const product = await startProduct({ upstream: context.upstreamUrl, folder });
  const request = requestBytes('GET', '/api/state', { 'X-Session-Id': id });
  const lane = await Lane.open(product.port);
  const begun = performance.now();
  const { text } = await lane.ask(request);
  const first = performance.now() - begun;
  lane.close();
  const tag = /^etag: (.*)$/im.exec(text)?.[1] ?? '';
  const whole = await cost(context, product, 4, repeat(request));
  const poll = requestBytes('GET', '/api/state', { 'X-Session-Id': id, 'If-None-Match': tag });
  const unchanged = await cost(context, product, 16, repeat(poll, 304));
  const turn = await cost(context, product, 1, async (own, _worker, count) => {
    await streamTurn(own, { sessionId: id, tokens: 10, pace: 0 });
    count(1);
  });
  await product.end();
  rmSync(folder, { recursive: true, force: true });
  return [length, whole, unchanged, first, turn];
}

async function ofStreams(context: Context, count: number): Promise<Line> {
  const product = await startProduct({ upstream: context.upstreamUrl });
  const id = randomUUID();
  const headers = { 'X-Session-Id': id, 'Content-Type': 'application/json' };
  const lane = await Lane.open(product.port);
  await lane.ask(requestBytes('POST', '/api/sessions', headers, '{}'));
  lane.close();
  const streams = await OpenStreams.open(product, count, () => id);
  const event = await cost(context, product, 1, async (own, _worker, done) => {
    const arrived = streams.until(streams.events + count);
    const body = JSON.stringify({ title: `Title ${String(Math.random())}` });
    await own.ask(requestBytes('PATCH', `/api/sessions/${id}`, headers, body));
    await arrived;
    done(count);
  });
  streams.close();
  await product.end();
  return [count, event];
}

async function ofThreads(context: Context, count: number): Promise<Line> {
  const folder = makeFolder();
  await seed(folder, (store) => seedWallet(store, WALLET, count));
  const starts: number[] = [];
  for (let n = 0; n < 2; n++) {
    const early = await startProduct({ upstream: context.upstreamUrl, folder });
    starts.push(early.startMs);
    await early.end();
  }
  const product = await startProduct({ upstream: context.upstreamUrl, folder });
  starts.push(product.startMs);
  const path = `/api/sessions?public_key=${WALLET}&limit=100`;
  const page = await cost(
    context,
    product,
    4,
    repeat(requestBytes('GET', path, { 'X-Session-Id': randomUUID() })),
  );
  await product.end();
  rmSync(folder, { recursive: true, force: true });
  return [count, page, median(starts)];
}

/** Microseconds of CPU time for a unit of work. */
async function cost({ pace }: Context, product: Product, workers: number, work: Work): Promise<number> {
  const load = await Load.start(product, workers, work);
  await load.count(pace.warm);
  const { perCpuSecond } = await load.count(pace.seconds);
  await load.stop();
  return 1e6 / perCpuSecond;
}

function table(head: readonly string[], lines: readonly Line[]): string {
  const shown = lines.map((line) =>
    line.map((cell, at) =>
      typeof cell === 'number'
        ? cell.toLocaleString('en-US', { maximumFractionDigits: at === 0 ? 0 : 1 })
        : cell,
    ),
  );
  return [head, head.map(() => '--:'), ...shown].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
