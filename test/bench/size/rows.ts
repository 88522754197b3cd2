import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { filledId, filledWallet } from '../../support/filled-postgres.js';
import { Lane, requestBytes } from '../load/lane.js';
import { chatRequest } from '../load/turns.js';
import { median } from '../machine.js';
import { startProduct, type Product } from '../servers.js';
import { LONG, SHORT, THREADS, threadId, type Databases, type Filled } from './databases.js';

/** A line of the table. */
export interface Line {
  readonly row: string;
  /** Medians in milliseconds. */
  readonly small: number;
  readonly large: number;
}

/** Sends the request of a measurement; resolves with its latency in milliseconds. */
type Ask = (lane: Lane, n: number) => Promise<number>;

/** The context window of the model, in tokens: 100 messages fill it. */
const CONTEXT_TOKENS = 2_048;
const STARTS = 5;
/** How many requests a row may have: each uses another session, and the small database has 2,000 for all rows. */
export const MAX_SAMPLES = 350;
/** How many requests of each row come before the first one that counts, of other sessions. */
const WARMING = 40;
/** Other sessions in each run, so that none is in PostgreSQL's buffers from an earlier run. */
const FIRST = randomInt(2_000_000);

/** A node on a database. */
interface Node {
  readonly product: Product;
  readonly lane: Lane;
}

async function startNode(filled: Filled, upstream: string): Promise<Node> {
  const product = await startProduct({
    upstream,
    contextTokens: CONTEXT_TOKENS,
    env: { DATABASE_URL: filled.url, SECRETS_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'warn' },
  });
  const lane = await Lane.open(product.port);
  // Connections to PostgreSQL, and code that is compiled at its first use, are no part of a row.
  for (let n = 0; n < 200; n++) await turnOf(randomUUID())(lane, n);
  for (const [row, { ask }] of ROWS.entries()) {
    for (let n = 0; n < WARMING; n++) await ask(filled, row)(lane, MAX_SAMPLES + n);
  }
  return { product, lane };
}

async function endNode({ product, lane }: Node): Promise<void> {
  lane.close();
  await product.end();
}

/** @throws when the status is not 200 */
async function timed(lane: Lane, request: Buffer, onBody?: (chunk: Buffer) => void): Promise<number> {
  const begun = performance.now();
  const { status, text } = await lane.ask(request, onBody);
  if (status !== 200) throw new Error(text);
  return performance.now() - begun;
}

function turnOf(sessionId: string): Ask {
  return (lane) => timed(lane, chatRequest({ sessionId, tokens: 5, pace: 0 }));
}

function get(path: string, sessionId: string): Ask {
  return (lane) => timed(lane, requestBytes('GET', path, { 'X-Session-Id': sessionId }));
}

/** The sessions that a row uses: others for each row, spread over all. */
function sessionOf({ filling: { sessions } }: Filled, row: number, n: number): number {
  return 1 + (((FIRST + n * ROWS.length + row) * 7_919) % sessions);
}

const ROWS: readonly { readonly name: string; readonly ask: (filled: Filled, row: number) => Ask }[] = [
  { name: 'list, 50 of 100', ask: (filled, row) => list(filled, row, '') },
  { name: 'the next page', ask: (filled, row) => list(filled, row, 'next') },
  { name: 'state', ask: (filled, row) => ofSession(filled, row, (id) => get('/api/state', id)) },
  {
    name: 'state, tail of 5',
    ask: (filled, row) => ofSession(filled, row, (id) => get('/api/state?tail=5', id)),
  },
  { name: 'turn', ask: (filled, row) => ofSession(filled, row, turnOf) },
];

function ofSession(filled: Filled, row: number, ask: (id: string) => Ask): Ask {
  return (lane, n) => ask(filledId(sessionOf(filled, row, n)))(lane, n);
}

function list(filled: Filled, row: number, page: '' | 'next'): Ask {
  return async (lane, n) => {
    const number = sessionOf(filled, row, n);
    const headers = { 'X-Session-Id': filledId(number) };
    const path = `/api/sessions?public_key=${filledWallet(number, filled.filling)}&limit=50`;
    if (page === '') return timed(lane, requestBytes('GET', path, headers));
    const { text } = await lane.ask(requestBytes('GET', path, headers));
    const next = /^link: <(.*?)>/im.exec(text)?.[1];
    if (next === undefined) throw new Error(`there is no next page: ${text}`);
    return timed(lane, requestBytes('GET', next, headers));
  };
}

/** The rows that compare the databases: cold, the first time that they are asked of rows of the database; warm, later. */
export async function compareDatabases(
  { small, large }: Databases,
  { upstream, samples }: { readonly upstream: string; readonly samples: number },
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const heat of ['cold', 'warm'] as const) {
    // New processes, so that no session is in the memory of a node.
    const nodes = [await startNode(small, upstream), await startNode(large, upstream)] as const;
    for (const [row, { name, ask }] of ROWS.entries()) {
      const times = await alternate(nodes, [ask(small, row), ask(large, row)], samples);
      lines.push({ row: `${name}, ${heat}`, ...times });
    }
    await Promise.all(nodes.map(endNode));
  }
  return lines;
}

/** Asks both sides in turn, each first as often as the other. */
async function alternate(
  [a, b]: readonly [Node, Node],
  [askA, askB]: readonly [Ask, Ask],
  samples: number,
): Promise<{ small: number; large: number }> {
  const small: number[] = [];
  const large: number[] = [];
  for (let n = 0; n < samples; n++) {
    if (n % 2 === 0) small.push(await askA(a.lane, n));
    large.push(await askB(b.lane, n));
    if (n % 2 === 1) small.push(await askA(a.lane, n));
  }
  return { small: median(small), large: median(large) };
}

/** From the start of a process to its first healthy response. */
export async function compareStarts({ small, large }: Databases, upstream: string): Promise<Line> {
  const times: Record<'small' | 'large', number[]> = { small: [], large: [] };
  for (let n = 0; n < STARTS; n++) {
    for (const [side, { url }] of [
      ['small', small],
      ['large', large],
    ] as const) {
      const env = { DATABASE_URL: url, SECRETS_KEY: randomBytes(32).toString('base64') };
      const product = await startProduct({ upstream, env });
      times[side].push(product.startMs);
      await product.end();
    }
  }
  return { row: 'start to healthy', small: median(times.small), large: median(times.large) };
}

const THREAD_ROWS: readonly { readonly name: string; readonly ask: (length: number) => Ask }[] = [
  {
    name: 'first turn after a start',
    ask: (length) => (lane, n) => turnOf(threadId(length, n % THREADS))(lane, n),
  },
  { name: 'later turns', ask: (length) => (lane, n) => turnOf(threadId(length, n % THREADS))(lane, n) },
  {
    name: 'state, tail of 20',
    ask: (length) => (lane, n) => get('/api/state?tail=20', threadId(length, n % THREADS))(lane, n),
  },
  { name: 'newest page of 50', ask: (length) => page(length, false) },
  { name: 'the page before it', ask: (length) => page(length, true) },
];

function page(length: number, isBefore: boolean): Ask {
  return async (lane, n) => {
    const id = threadId(length, n % THREADS);
    const path = `/api/sessions/${id}/messages?limit=50`;
    if (!isBefore) return get(path, id)(lane, n);
    const chunks: Buffer[] = [];
    await timed(lane, requestBytes('GET', path, { 'X-Session-Id': id }), (chunk) =>
      chunks.push(Buffer.from(chunk)),
    );
    const first = /"id":"(.*?)"/.exec(Buffer.concat(chunks).toString())?.[1] ?? '';
    return get(`${path}&before=${first}`, id)(lane, n);
  };
}

/** The rows that compare threads of one database: of 100 messages and of 10,000. The second pass counts. */
export async function compareThreads({ large }: Databases, upstream: string): Promise<Line[]> {
  let lines: Line[] = [];
  for (const pass of ['touches the rows', 'counts']) {
    const node = await startNode(large, upstream);
    lines = [];
    for (const { name, ask } of THREAD_ROWS) {
      const samples = pass === 'counts' && name !== THREAD_ROWS[0]?.name ? 5 * THREADS : THREADS;
      const times = await alternate([node, node], [ask(SHORT), ask(LONG)], samples);
      lines.push({ row: name, ...times });
    }
    await endNode(node);
  }
  return lines;
}
