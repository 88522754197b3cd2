import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { requestBytes } from '../load/lane.js';
import { askOnce, createSession, pollUnchanged, repeat } from '../load/requests.js';
import { compare, type Context, type Outcome, type Row } from '../row.js';
import { seed, seedThread } from '../seed.js';
import { makeFolder, startProduct, startProgram } from '../servers.js';

/** How requests are compared: each is over at once. */
const LOAD = { workers: 64, slices: 6 } as const;

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
  const sides = {
    product: { target: product, work: createSession },
    against: { target: reference, work: createSession },
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
    const fromRaw = requestBytes('GET', '/api/state', { ...headers, 'If-None-Match': 'W/"raw-1"' });
    const sides = {
      product: { target: product, work: await pollUnchanged(product.port, headers) },
      against: { target: raw, work: repeat(fromRaw, 304) },
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

export const requestRows: readonly Row[] = [
  { id: 'json', run: smallJson },
  { id: 'create', run: createSessions },
  { id: 'state', run: state },
];
