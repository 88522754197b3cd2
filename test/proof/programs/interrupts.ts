/** Interrupts turns, on one node and from the other node of two, and times how soon the model's request is closed. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../chaos/random.js';
import { RecordPage } from '../../chaos/shapes.js';
import { ask, closeConnections } from '../../chaos/wire.js';
import { startUpstream, textChunk, type UpstreamRequest } from '../../support/upstream.js';
import { inParallel, quantile, runProgram, type Run } from '../outcome.js';
import { ModelRequest, sayTitle, State } from '../model-request.js';
import { startService } from '../service.js';

const ABOUT = 'Interrupts turns, half of them on one node, half from the other node of two.';
/** A mean of a few: each interrupt is to meet an otherwise idle node. */
const WIDTH = 4;
const PART = 'The first part';

await runProgram({ about: ABOUT, count: 10_000 }, async (run) => {
  const half = Math.ceil(run.count / 2);
  const one = await interruptAll({ ...run, count: half }, 1);
  const two = await interruptAll({ ...run, count: run.count - half }, 2);
  return {
    counts: { interrupts: one.length + two.length },
    latencies: {
      'one node, p50 ms': quantile(one, 0.5),
      'one node, p99 ms': quantile(one, 0.99),
      'across nodes, p50 ms': quantile(two, 0.5),
      'across nodes, p99 ms': quantile(two, 0.99),
    },
  };
});

/** Returns the milliseconds from each interrupt to the end of the request to the model. */
async function interruptAll(run: Run, nodes: 1 | 2): Promise<readonly number[]> {
  const directory = join(run.directory, `${String(nodes)}-nodes`);
  mkdirSync(directory);
  /** What waits for the request of a session to the model. */
  const awaited = new Map<string, (request: UpstreamRequest) => void>();
  const upstream = await startUpstream();
  upstream.always(async (reply, request) => {
    const { messages, tools } = ModelRequest.parse(request.body);
    if (tools.length === 0) {
      await sayTitle(reply, request);
      return;
    }
    reply.open();
    reply.event(textChunk(PART));
    awaited.get(messages.at(-1)?.content ?? '')?.(request);
    await reply.hang();
  });
  const service = await startService({ directory, upstream: upstream.url, nodes });
  const latencies: number[] = [];
  const random = new Random(run.seed, 'interrupts', nodes);
  await inParallel(run.count, WIDTH, async (n) => {
    const [id, text] = [random.uuid(), `interrupt ${String(n)}`];
    const here = service.urls[n % nodes] ?? service.urls[0];
    const there = service.urls[(n + 1) % nodes] ?? service.urls[0];
    const headers = { 'X-Session-Id': id };
    const asked = new Promise<UpstreamRequest>((resolve) => awaited.set(text, resolve));
    const message = `${here}/api/chat?message=${encodeURIComponent(text)}`;
    const { status } = await ask({ method: 'POST', url: message, headers });
    if (status !== 200) {
      run.fault(`${id}: the message got ${String(status)}`);
      return;
    }
    const { closed } = await asked;
    awaited.delete(text);
    const begun = performance.now();
    const interrupted = ask({ method: 'POST', url: `${there}/api/interrupt`, headers });
    if ((await closed) !== 'aborted') run.fault(`${id}: the request to the model was not aborted`);
    latencies.push(performance.now() - begun);
    const answer = await interrupted;
    const isOver = State.safeParse(JSON.parse(answer.body)).data?.is_processing === false;
    if (answer.status !== 200 || !isOver)
      run.fault(`${id}: ${String(answer.status)} ${answer.body.slice(0, 300)}`);
    const page = await ask({ method: 'GET', url: `${there}/api/sessions/${id}/messages`, headers });
    const said = RecordPage.parse(JSON.parse(page.body)).messages;
    const [question, part] = [said.at(0), said.at(1)];
    // What was said up to the interrupt is kept, or nothing where nothing had arrived.
    const isKept =
      question?.content === text &&
      (part === undefined || PART.startsWith(part.content) || part.role === 'system');
    if (!isKept) run.fault(`${id}: stored ${page.body.slice(0, 500)}`);
  });
  for (const end of await service.stop()) run.fault(`a node ended with ${end}`);
  await upstream.close();
  closeConnections();
  return latencies;
}
