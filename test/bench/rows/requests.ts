import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { Lane, requestBytes } from '../load/lane.js';
import type { Work } from '../load/measure.js';
import { compare, type Context, type Outcome, type Row } from '../row.js';
import { seed, seedThread } from '../seed.js';
import { makeFolder, startProduct, startProgram } from '../servers.js';

/** How requests are compared: each is over at once. */
const LOAD = { workers: 64, slices: 6 } as const;

/** The same request again and again. @throws when its answer has another status */
export function repeat(request: Buffer, status = 200): Work {
  return async (lane, _worker, count) => {
    const head = await lane.ask(request);
    if (head.status !== status) throw new Error(`expected ${String(status)}: ${head.text}`);
    count(1);
  };
}

async function smallJson(context: Context): Promise<readonly Outcome[]> {
  const raw = await startProgram('raw-json');
  const product = await startProduct({ upstream: context.upstreamUrl });
  const outcomes: Outcome[] = [];
  const paths = [
    {
      name: 'small JSON request (GET /api/health) ÷ raw',
      path: '/api/health',
      bounds: { required: 0.65, aim: 0.8 },
    },
    { name: 'the same, GET /api/control/models of a session', path: '/api/control/models', bounds: {} },
  ];
  for (const { name, path, bounds } of context.pace.isQuick ? paths.slice(0, 1) : paths) {
    const request = requestBytes('GET', path, { 'X-Session-Id': randomUUID() });
    const sides = {
      product: { target: product, work: repeat(request) },
      against: { target: raw, work: repeat(request) },
      ...LOAD,
    };
    const figures = await compare(context, sides);
    const got = figures.product / figures.against;
    outcomes.push({ row: name, unit: 'requests/CPU-s', ...figures, got, ...bounds, better: 'more' });
  }
  await Promise.all([raw.end(), product.end()]);
  return outcomes;
}

async function createSessions(context: Context): Promise<readonly Outcome[]> {
  const folder = makeFolder();
  const reference = await startProgram('reference', [`${folder}/reference.db`, context.upstreamUrl]);
  const product = await startProduct({ upstream: context.upstreamUrl });
  const work: Work = async (lane, _worker, count) => {
    const headers = { 'X-Session-Id': randomUUID(), 'Content-Type': 'application/json' };
    const head = await lane.ask(requestBytes('POST', '/api/sessions', headers, '{}'));
    if (head.status !== 200) throw new Error(head.text);
    count(1);
  };
  const sides = {
    product: { target: product, work },
    against: { target: reference, work },
    ...LOAD,
  };
  const figures = await compare(context, sides);
  await Promise.all([reference.end(), product.end()]);
  rmSync(folder, { recursive: true, force: true });
  const bounds = { required: 0.55, aim: 0.65, better: 'more' } as const;
  const got = figures.product / figures.against;
  return [{ row: 'durable create session ÷ R', unit: 'sessions/CPU-s', ...figures, got, ...bounds }];
}

async function state(context: Context): Promise<readonly Outcome[]> {
  const folder = makeFolder();
  const ids = { 10: randomUUID(), 100: randomUUID(), 1000: randomUUID() };
  await seed(folder, async (store) => {
    for (const [messages, id] of Object.entries(ids)) await seedThread(store, id, Number(messages));
  });
  const reference = await startProgram('reference', [`${folder}/reference.db`, context.upstreamUrl]);
  const raw = await startProgram('raw-json');
  const product = await startProduct({ upstream: context.upstreamUrl, folder });
  const outcomes: Outcome[] = [];
  for (const [messages, id] of Object.entries(ids)) {
    if (context.pace.isQuick && messages !== '1000') continue;
    const headers = { 'X-Session-Id': id };
    await askOnce(reference.port, requestBytes('POST', `/fill?messages=${messages}`, headers));
    const work = repeat(requestBytes('GET', '/api/state', headers));
    const sides = {
      product: { target: product, work },
      against: { target: reference, work },
      ...LOAD,
      workers: 16,
    };
    const figures = await compare(context, sides);
    const bounds = messages === '1000' ? { required: 0.75, aim: 0.9 } : {};
    const got = figures.product / figures.against;
    const row = `state, ${messages} messages, 200 ÷ R`;
    outcomes.push({ row, unit: 'requests/CPU-s', ...figures, got, ...bounds, better: 'more' });
  }
  const unchanged: Outcome[] = [];
  for (const messages of [10, 1000] as const) {
    const headers = { 'X-Session-Id': ids[messages] };
    const tag = /^etag: (.*)$/im.exec(
      await askOnce(product.port, requestBytes('GET', '/api/state', headers)),
    )?.[1];
    if (tag === undefined) throw new Error('the state has no ETag');
    const poll = (etag: string): Work =>
      repeat(requestBytes('GET', '/api/state', { ...headers, 'If-None-Match': etag }), 304);
    const sides = {
      product: { target: product, work: poll(tag) },
      against: { target: raw, work: poll('W/"raw-1"') },
      ...LOAD,
    };
    const figures = await compare(context, sides);
    const got = figures.product / figures.against;
    const row = `state, 304, ${String(messages)} messages ÷ raw`;
    unchanged.push({
      row,
      unit: 'requests/CPU-s',
      ...figures,
      got,
      required: 0.5,
      aim: 0.65,
      better: 'more',
    });
  }
  const [few, many] = unchanged;
  if (few !== undefined && many !== undefined) {
    const same = {
      row: 'state, 304: 1,000 messages ÷ 10 messages',
      unit: 'requests/CPU-s',
      better: 'more',
    } as const;
    const got = many.product / few.product;
    unchanged.push({
      ...same,
      product: many.product,
      against: few.product,
      got,
      required: 0.9,
      aim: 1,
      rounds: [],
    });
  }
  await Promise.all([reference.end(), raw.end(), product.end()]);
  rmSync(folder, { recursive: true, force: true });
  return [...outcomes, ...unchanged];
}

/** Asks once on a connection of its own. Resolves with the head of the answer. */
export async function askOnce(
  port: number,
  request: Buffer,
  onBody?: (chunk: Buffer) => void,
): Promise<string> {
  const lane = await Lane.open(port);
  const { text } = await lane.ask(request, onBody);
  lane.close();
  return text;
}

export const requestRows: readonly Row[] = [
  { id: 'json', run: smallJson },
  { id: 'create', run: createSessions },
  { id: 'state', run: state },
];
