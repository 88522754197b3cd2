import { Lane, requestBytes } from '../load/lane.js';
import { Load } from '../load/measure.js';
import { TokenLatencies } from '../load/tokens.js';
import { chatRequest, Conversations, streamTurn } from '../load/turns.js';
import { cpuSeconds, quantile, sleep } from '../machine.js';
import { medians, type Context, type Outcome, type Row } from '../row.js';
import { startProduct, startProgram, type Server } from '../servers.js';

const PACE_MS = 20;
const PACED = `paced at ${String(PACE_MS)} ms`;
const TOKENS = 50;
const WARM_WORKERS = 64;
/** The share of its core that as many streams as a machine carries easily take the proxy. */
const EASY_SHARE = 0.5;

const NAMES = { first: 'time to first token', token: 'token latency' } as const;

/** How tokens came in one round, in milliseconds. */
interface Latencies {
  readonly first: { readonly p50: number; readonly p99: number };
  readonly token: { readonly p50: number; readonly p99: number };
  readonly tokensPerCpuSecond: number;
}

/** Asks for a streamed answer in a thread. */
type Ask = (sessionId: string) => Buffer;

const throughServer: Ask = (sessionId) => chatRequest({ sessionId, tokens: TOKENS, pace: PACE_MS });

/** Straight to the upstream, in its own dialect. */
const straight: Ask = () => {
  const content = `tokens=${String(TOKENS)} pace=${String(PACE_MS)}`;
  const body = JSON.stringify({ model: 'scripted', stream: true, messages: [{ role: 'user', content }] });
  return requestBytes('POST', '/v1/chat/completions', { 'Content-Type': 'application/json' }, body);
};

/**
 * So many streams at once, begun one after another over the time of an answer, so that their tokens do not come in
 * step.
 */
async function listen(server: Server, ask: Ask, streams: number, seconds: number): Promise<Latencies> {
  const firsts: number[] = [];
  const tokens: number[] = [];
  const threads = new Conversations();
  let isCounted = false;
  const until = performance.now() + PACE_MS * TOKENS + seconds * 1000;
  const runs = Array.from({ length: streams }, async (_, worker) => {
    await sleep((worker / streams) * PACE_MS * TOKENS);
    const lane = await Lane.open(server.port);
    while (performance.now() < until) {
      const answer = new TokenLatencies((milliseconds) => {
        if (isCounted) tokens.push(milliseconds);
      });
      await lane.ask(ask(threads.next(worker)), answer.take);
      if (isCounted && answer.first !== undefined) firsts.push(answer.first);
    }
    lane.close();
  });
  // Until all have begun.
  await sleep(PACE_MS * TOKENS);
  isCounted = true;
  const cpu = cpuSeconds(server.pid);
  await sleep(seconds * 1000);
  isCounted = false;
  const tokensPerCpuSecond = tokens.length / (cpuSeconds(server.pid) - cpu);
  await Promise.all(runs);
  const both = (values: readonly number[]) => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) });
  return { first: both(firsts), token: both(tokens), tokensPerCpuSecond };
}

/**
 * Turns that do not wait, until what is hot is compiled. At the pace of a model that takes minutes, which a service in
 * use has behind it and a run of this row has not.
 */
async function warmUp(server: Server, seconds: number): Promise<void> {
  const threads = new Conversations();
  const load = await Load.start(server, WARM_WORKERS, (lane, worker) =>
    streamTurn(lane, { sessionId: threads.next(worker), tokens: TOKENS, pace: 0 }),
  );
  await load.count(seconds);
  await load.stop();
}

/** A round: through the product, straight to the upstream, and through the proxy. */
interface Round {
  readonly through: Latencies;
  readonly direct: Latencies;
  readonly proxied: Latencies;
}

/** What is compared, and over how many streams. */
interface Sides {
  readonly product: Server;
  readonly proxy: Server;
  readonly streams: number;
}

async function measure(context: Context, { product, proxy, streams }: Sides): Promise<readonly Round[]> {
  const { rounds: asked, isQuick, warm } = context.pace;
  const seconds = Math.max(context.pace.seconds, 1.5);
  for (const server of [proxy, product]) await listen(server, throughServer, streams, warm);
  const rounds: Round[] = [];
  // A round takes ten seconds at any pace: one is enough for a look.
  for (let round = 0; round < (isQuick ? 1 : asked); round++) {
    const direct = await listen(context.upstream, straight, streams, seconds);
    const proxied = await listen(proxy, throughServer, streams, seconds);
    const through = await listen(product, throughServer, streams, seconds);
    rounds.push({ direct, through, proxied });
  }
  return rounds;
}

type Bounds = Pick<Outcome, 'required' | 'aim'>;

/**
 * What the product adds to a latency of the upstream's own, and beside it what the proxy adds: the median and the 99th
 * percentile.
 */
function added(
  rounds: readonly Round[],
  latency: 'first' | 'token',
  load: string,
  bounds: { readonly p50?: Bounds; readonly p99?: Bounds } = {},
): Outcome[] {
  return (['p50', 'p99'] as const).map((share) => {
    const pairs = rounds.map(({ through, direct, proxied }) =>
      [through, proxied].map((seen) => seen[latency][share] - direct[latency][share]),
    );
    const figures = medians(pairs);
    const row = `added ${NAMES[latency]}, ${share}, ${load} (beside: the proxy)`;
    return {
      row,
      unit: 'ms',
      ...figures,
      got: figures.product,
      ...bounds[share],
      better: 'less',
      rounds: pairs,
    };
  });
}

/** With as many streams as this machine carries easily, whatever it is. */
async function fitted(
  context: Context,
  sides: Omit<Sides, 'streams'>,
  proxyTokens: number,
): Promise<Outcome[]> {
  const streams = Math.floor((EASY_SHARE * proxyTokens * PACE_MS) / 1000);
  const load = `${String(streams)} streams, half a core for the proxy, ${PACED}`;
  return added(await measure(context, { ...sides, streams }), 'token', load, { p99: { required: 8 } });
}

async function latencies(context: Context): Promise<readonly Outcome[]> {
  const product = await startProduct({ upstream: context.upstreamUrl });
  const proxy = await startProgram('raw-proxy', [context.upstreamUrl]);
  for (const server of [proxy, product]) await warmUp(server, context.pace.warm * 2);
  const few = await measure(context, { product, proxy, streams: 64 });
  const many = await measure(context, { product, proxy, streams: 256 });
  const costs = many.map(({ through, proxied }) => [through.tokensPerCpuSecond, proxied.tokensPerCpuSecond]);
  const cost = medians(costs);
  const easy = context.pace.isQuick ? [] : await fitted(context, { product, proxy }, cost.against);
  await Promise.all([product.end(), proxy.end()]);
  return [
    ...added(few, 'first', `64 ${PACED}`, { p50: { required: 2 }, p99: { required: 6 } }),
    ...added(many, 'token', `256 ${PACED}`),
    ...easy,
    {
      row: `tokens, 256 legacy streams ${PACED} ÷ proxy`,
      unit: 'tokens/CPU-s',
      ...cost,
      got: cost.product / cost.against,
      better: 'more',
      rounds: costs,
    },
  ];
}

export const latencyRows: readonly Row[] = [{ id: 'latency', run: latencies }];
