import { Lane, requestBytes } from '../load/lane.js';
import { Load } from '../load/measure.js';
import { TokenLatencies } from '../load/tokens.js';
import { chatRequest, Conversations, streamTurn } from '../load/turns.js';
import { cpuSeconds, median, quantile, sleep } from '../machine.js';
import type { Context, Outcome, Row } from '../row.js';
import { startProduct, startProgram, type Server } from '../servers.js';

const PACE_MS = 20;
const TOKENS = 50;
const WARM_WORKERS = 64;

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

/** So many streams at once, begun one after another over the time of an answer, so that their tokens do not come in step. */
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
 * Turns that do not wait, until what is hot is compiled. At the pace of a model that takes minutes, which a service in use has behind it
 * and a run of this row has not.
 */
async function warmUp(server: Server, seconds: number): Promise<void> {
  const threads = new Conversations();
  const load = await Load.start(server, WARM_WORKERS, (lane, worker) =>
    streamTurn(lane, { sessionId: threads.next(worker), tokens: TOKENS, pace: 0 }),
  );
  await load.count(seconds);
  await load.stop();
}

async function latencies(context: Context): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const product = await startProduct({ upstream: context.upstreamUrl });
  const proxy = await startProgram('raw-proxy', [context.upstreamUrl]);
  for (const server of [proxy, product]) await warmUp(server, context.pace.warm * 2);
  for (const streams of [64, 256]) {
    const seconds = Math.max(context.pace.seconds, 1.5);
    for (const server of [proxy, product]) await listen(server, throughServer, streams, context.pace.warm);
    const rounds: { through: Latencies; direct: Latencies; proxied: Latencies }[] = [];
    // A round takes ten seconds at any pace: two are enough for a look.
    const { rounds: asked, isQuick } = context.pace;
    for (let round = 0; round < (isQuick ? 2 : asked); round++) {
      const direct = await listen(context.upstream, straight, streams, seconds);
      const proxied = await listen(proxy, throughServer, streams, seconds);
      const through = await listen(product, throughServer, streams, seconds);
      rounds.push({ direct, through, proxied });
    }
    const line = (name: string, of: (seen: Latencies) => number, required: number, aim: number): Outcome => {
      const pairs = rounds.map(({ through, direct, proxied }) => [
        of(through) - of(direct),
        of(proxied) - of(direct),
      ]);
      const product = median(pairs.map(([own = NaN]) => own));
      const against = median(pairs.map(([, other = NaN]) => other));
      const row = `added ${name}, ${String(streams)} paced at ${String(PACE_MS)} ms (beside: the proxy)`;
      return {
        row,
        unit: 'ms',
        product,
        against,
        got: product,
        required,
        aim,
        better: 'less',
        rounds: pairs,
      };
    };
    if (streams === 64) {
      outcomes.push(line('time to first token, p50', ({ first }) => first.p50, 1.5, 0.7));
      outcomes.push(line('time to first token, p99', ({ first }) => first.p99, 6, 3));
    } else {
      outcomes.push(line('token latency, p50', ({ token }) => token.p50, 1, 0.5));
      outcomes.push(line('token latency, p99', ({ token }) => token.p99, 8, 3));
      const costs = rounds.map(({ through, proxied }) => [
        through.tokensPerCpuSecond,
        proxied.tokensPerCpuSecond,
      ]);
      const [own, other] = [median(costs.map(([a = NaN]) => a)), median(costs.map(([, b = NaN]) => b))];
      const row = 'tokens, 256 legacy streams paced at 20 ms ÷ proxy';
      outcomes.push({
        row,
        unit: 'tokens/CPU-s',
        product: own,
        against: other,
        got: own / other,
        better: 'more',
        rounds: costs,
      });
    }
  }
  await Promise.all([product.end(), proxy.end()]);
  return outcomes;
}

export const latencyRows: readonly Row[] = [{ id: 'latency', run: latencies }];
