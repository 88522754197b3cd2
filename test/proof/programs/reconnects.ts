/** Cuts streams at random, resumes them with their cursor, and compares what they showed with what was said. */
import { Random } from '../../chaos/random.js';
import { RecordPage } from '../../chaos/shapes.js';
import { ask, closeConnections, Cut, eventsOf, open } from '../../chaos/wire.js';
import { sleep } from '../../chaos/world.js';
import { endChunk, startUpstream, textChunk, toolChunk, type Reply } from '../../support/upstream.js';
import { inParallel, runProgram, type Run } from '../outcome.js';
import { ModelRequest, sayTitle, State } from '../model-request.js';
import { startService } from '../service.js';
import { SeenTurns } from './seen-turns.js';

const ABOUT = 'Cuts and resumes update streams of running turns.';
const WIDTH = 8;
/** Reconnects of one session, about so. */
const EACH = 20;
const WORDS = 60;

await runProgram({ about: ABOUT, count: 10_000 }, async (run) => {
  const upstream = await startUpstream();
  upstream.always((reply, request) => {
    const asked = ModelRequest.parse(request.body);
    return asked.tools.length === 0 ? sayTitle(reply, request) : respond(reply, asked);
  });
  const service = await startService({ directory: run.directory, upstream: upstream.url, nodes: 1 });
  const counts = { reconnects: 0, events: 0, turns: 0 };
  await inParallel(Math.ceil(run.count / EACH), WIDTH, (n) => follow(run, service.urls[0], n, counts));
  for (const end of await service.stop()) run.fault(`the service ended with ${end}`);
  await upstream.close();
  closeConnections();
  return { counts };
});

/** Answers with one tool call and then with the numbered words of the message, one every few milliseconds. */
async function respond(reply: Reply, { messages }: ModelRequest): Promise<void> {
  reply.open();
  const question = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (messages.at(-1)?.role === 'user') {
    reply.event(
      toolChunk(0, { id: `call ${question}`, name: 'calculate', arguments: '{"expression":"6*7"}' }),
    );
    reply.event(endChunk('tool_calls'));
  } else {
    for (const word of wordsOf(question)) {
      reply.event(textChunk(word));
      await sleep(3);
    }
    reply.event(endChunk());
  }
  reply.event('[DONE]');
}

function wordsOf(question: string): readonly string[] {
  return Array.from({ length: WORDS }, (_, n) => `${question}:${String(n)} `);
}

/** One session, whose stream is cut and resumed until enough turns have ended. */
async function follow(
  run: Run,
  base: string,
  n: number,
  counts: { reconnects: number; events: number; turns: number },
): Promise<void> {
  const random = new Random(run.seed, 'reconnects', n);
  const id = random.uuid();
  const headers = { 'X-Session-Id': id };
  const seen = new SeenTurns(id, (detail) => {
    run.fault(`${id}: ${detail}`);
  });
  let reconnects = 0;
  for (let turn = 1; reconnects < EACH; turn++) {
    const question = `${String(n)}.${String(turn)}`;
    const message = `${base}/api/chat?message=${encodeURIComponent(question)}`;
    const { status } = await ask({ method: 'POST', url: message, headers });
    if (status !== 200) {
      run.fault(`${id}: the message got ${String(status)}`);
      return;
    }
    const idle = untilIdle(base, headers);
    const over = new AbortController();
    void idle.then(() => {
      over.abort();
    });
    while (seen.ended < turn && !over.signal.aborted) {
      const url = `${base}/api/updates?include=turns`;
      const cursor = { 'Last-Event-ID': String(seen.cursor) };
      const stream = await open({ method: 'GET', url, headers: { ...headers, ...cursor } });
      await read(stream, random.integer(1, 40), { seen, turn, idle });
      stream.close();
      if (seen.ended < turn) reconnects++;
    }
    await idle;
    const text = wordsOf(question).join('');
    if (seen.ended === turn) seen.expectText(text);
    // It ended between two streams.
    seen.ended = turn;
    const page = await ask({ method: 'GET', url: `${base}/api/sessions/${id}/messages`, headers });
    const stored = RecordPage.parse(JSON.parse(page.body)).messages.at(-1)?.content;
    if (stored !== text)
      run.fault(`${id}: stored ${JSON.stringify(stored)} instead of ${text.slice(0, 50)}…`);
    counts.turns++;
  }
  counts.reconnects += reconnects;
  counts.events += seen.cursor;
}

/** Resolves once no turn of the session runs. */
async function untilIdle(base: string, headers: Readonly<Record<string, string>>): Promise<void> {
  for (;;) {
    const { body } = await ask({ method: 'GET', url: `${base}/api/state?tail=1`, headers });
    if (!State.parse(JSON.parse(body)).is_processing) return;
    await sleep(50);
  }
}

/** Reads a few events, or until the turn has ended, or none is left to be shown. */
async function read(
  stream: Awaited<ReturnType<typeof open>>,
  events: number,
  { seen, turn, idle }: { readonly seen: SeenTurns; readonly turn: number; readonly idle: Promise<void> },
): Promise<void> {
  let left = events;
  seen.opened();
  void idle.then(() => {
    // A stream that has shown the beginning of the turn will show its end.
    if (!seen.isInTurn) stream.close();
  });
  try {
    for await (const { id, data } of eventsOf(stream.message)) {
      seen.see(id, data);
      if (--left === 0 || seen.ended >= turn) return;
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
  }
}
