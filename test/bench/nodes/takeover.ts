import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { readText } from '../programs/bodies.js';
import { askOnce } from '../load/requests.js';
import { requestBytes } from '../load/lane.js';
import { quantile, sleep } from '../machine.js';
import { startCluster } from './cluster.js';

/** How many messages are sent at once. */
const AT_ONCE = 50;
const MARK = /turn-(\d+)-/;
/** Bound of the 99th percentile, in milliseconds. */
const MAX_P99 = 8_000;
const LOOK_MS = 50;

/** A model whose first response to a turn begins and stays open; the second is complete. */
class HeldModel {
  /** The turns whose first response is open. */
  readonly held = new Set<string>();
  /** When each turn was requested again, by the monotonic clock. */
  readonly resumed = new Map<string, number>();
  readonly #server = createServer((req, res) => {
    void readText(req).then((body) => {
      this.#respond(body, res);
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('there is no port');
    return `http://127.0.0.1:${String(address.port)}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #respond(body: string, res: ServerResponse): void {
    const turn = MARK.exec(body)?.[1];
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write(chunk({ content: 'Begun' }, null));
    // A request for a title has no open turn.
    if (turn !== undefined && !this.held.has(turn)) {
      this.held.add(turn);
      return;
    }
    if (turn !== undefined && !this.resumed.has(turn)) this.resumed.set(turn, performance.now());
    res.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  }
}

/**
 * Kills a node with so many running turns, and measures how long it takes until the other node requests them from the
 * model again.
 * @returns lines for the output, and whether the bound is met
 */
export async function measureTakeover(turns: number): Promise<{ text: string; isMet: boolean }> {
  const model = new HeldModel();
  const cluster = await startCluster({ nodes: 2, upstream: await model.listen() });
  const [lost, other] = cluster.nodes;
  if (lost === undefined || other === undefined) throw new Error('two nodes are needed');
  for (let from = 0; from < turns; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, turns - from) }, (_, n) => from + n);
    await Promise.all(some.map((n) => send(lost.port, n)));
  }
  while (model.held.size < turns) await sleep(LOOK_MS);
  const killedAt = performance.now();
  await lost.end();
  while (model.resumed.size < turns) await sleep(LOOK_MS);
  await cluster.fill(async (store) => {
    for (;;) {
      const { queued, running } = await store.countTurns();
      if (queued + running === 0) return;
      await sleep(LOOK_MS);
    }
  });
  const times = [...model.resumed.values()].map((at) => at - killedAt);
  await cluster.end();
  model.close();
  const [p50, p99, most] = [0.5, 0.99, 1].map((part) => quantile(times, part));
  const seconds = (value = NaN): string => `${(value / 1000).toFixed(2)} s`;
  const isMet = (p99 ?? NaN) < MAX_P99;
  const bound = `bound of p99 ${seconds(MAX_P99)}${isMet ? '' : ', **short**'}`;
  const figures = `p50 ${seconds(p50)}, p99 ${seconds(p99)}, last ${seconds(most)}`;
  return { text: `take-over of ${String(turns)} turns: ${figures} after the kill; ${bound}`, isMet };
}

async function send(port: number, turn: number): Promise<void> {
  const path = `/api/chat?message=turn-${String(turn)}-`;
  const head = await askOnce(port, requestBytes('POST', path, { 'X-Session-Id': randomUUID() }));
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(head);
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const base = { id: 'held', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'scripted' };
  return `data: ${JSON.stringify({ ...base, choices })}\n\n`;
}
