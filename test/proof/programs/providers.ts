/** Lets a model provider send what no provider should, and checks that every turn ends and the service goes on. */
import { z } from 'zod';
import { beHostile, garbageOf, HOSTILITIES } from '../../chaos/hostile-response.js';
import { Random } from '../../chaos/random.js';
import { ask, closeConnections } from '../../chaos/wire.js';
import { sleep } from '../../chaos/world.js';
import { endChunk, startUpstream, textChunk, toolChunk, type Reply } from '../../support/upstream.js';
import { runProgram } from '../outcome.js';
import { startService } from '../service.js';

const ABOUT = 'Counts bad responses of a model provider.';
/** A failed request is repeated after a pause, so that most turns wait. */
const WIDTH = 200;
/** Turns of one thread, so that what a bad response left in the history is sent again. */
const TURNS = 5;

const ODD = [null, true, 0, -1, 1e308, 4_294_967_295, '', ' ', 'x', '\u0000', '\ud800', '{"a":', [], [[]], {}, { a: {} }, 'A'.repeat(70_000)] as const; // prettier-ignore
const STATUSES = [204, 301, 400, 401, 404, 408, 413, 418, 429, 500, 502, 503, 529] as const;
const Snapshot = z.object({
  is_processing: z.boolean(),
  messages: z.array(z.object({ sender: z.enum(['user', 'agent', 'system']), content: z.string() })),
});

await runProgram({ about: ABOUT, count: 100_000 }, async (run) => {
  const upstream = await startUpstream();
  const random = new Random(run.seed, 'provider');
  let [responses, turns] = [0, 0];
  upstream.always(async (reply, { closed }) => {
    responses++;
    let isGone = false;
    void closed.then(() => (isGone = true));
    await misbehave(reply, random, () => isGone);
  });
  const service = await startService({
    ...{ directory: run.directory, upstream: upstream.url, nodes: 1 },
    env: { LOG_LEVEL: 'fatal' },
  });
  const [base] = service.urls;
  const ids = new Random(run.seed, 'sessions');
  const talk = async (): Promise<void> => {
    while (responses < run.count) {
      const headers = { 'X-Session-Id': ids.uuid(), Prefer: 'wait=120' };
      for (let turn = 0; turn < TURNS && responses < run.count; turn++) {
        const url = `${base}/api/chat?message=Hello`;
        const { status, body } = await ask({ method: 'POST', url, headers, timeoutMs: 130_000 });
        turns++;
        const state = status === 200 ? Snapshot.safeParse(JSON.parse(body)).data : undefined;
        const shown = `${headers['X-Session-Id']}: ${String(status)} ${body.slice(0, 500)}`;
        if (state === undefined || state.is_processing) run.fault(shown);
      }
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, talk));
  const health = await ask({ method: 'GET', url: `${base}/api/health` });
  if (health.status !== 200) run.fault(`the service is not well: ${health.body}`);
  for (const end of await service.stop()) run.fault(`the service ended with ${end}`);
  await upstream.close();
  closeConnections();
  return { counts: { 'bad responses': responses, turns } };
});

/** One bad response. */
async function misbehave(reply: Reply, random: Random, isGone: () => boolean): Promise<void> {
  const manner = random.weigh([['status', 25], ['chunks', 45], ['cut', 15], ['hostile', 15]], 'chunks'); // prettier-ignore
  if (manner === 'status') {
    reply.head(random.pick(STATUSES));
    reply.raw(random.chance(0.5) ? JSON.stringify({ error: odd(random) }) : String(odd(random)).repeat(10));
    return;
  }
  if (manner === 'hostile') {
    const kind = random.weigh(HOSTILITIES, 'html');
    if (kind === 'garbage') {
      reply.open();
      reply.event(garbageOf(random));
      return;
    }
    const isRare = kind === 'endless' && random.chance(0.99);
    await beHostile(reply, isRare ? 'reset' : kind, { isOpen: false, pause: sleep, isGone });
    return;
  }
  reply.open();
  const events = random.integer(0, 6);
  for (let n = 0; n < events; n++)
    reply.event(random.chance(0.5) ? brokenChunk(random) : textChunk('Well. '));
  if (manner === 'cut') {
    reply.raw('data: {"choices":[{"index":0,"delta":{"content":"cut o');
    return;
  }
  if (random.chance(0.5))
    reply.event(endChunk(random.pick(['stop', 'tool_calls', 'length', 'content_filter', ''])));
  if (random.chance(0.5)) reply.event('[DONE]');
}

/** A chunk with something odd at one place. */
function brokenChunk(random: Random): unknown {
  const value = odd(random);
  switch (random.integer(0, 6)) {
    case 0:
      return value;
    case 1:
      return { choices: value };
    case 2:
      return { choices: [value] };
    case 3:
      return { choices: [{ index: 0, delta: value, finish_reason: odd(random) }] };
    case 4:
      return { choices: [{ index: value, delta: { content: odd(random), tool_calls: odd(random) } }] };
    case 5:
      return {
        choices: [],
        usage: random.chance(0.5) ? value : { prompt_tokens: value, total_tokens: value },
      };
    default:
      return toolChunk(random.pick([0, -1, 1.5, 9_999]), {
        ...{ id: String(odd(random)), name: random.pick(['calculate', '', '__proto__', 'nothing']) },
        arguments: odd(random),
      });
  }
}

function odd(random: Random): unknown {
  return random.pick(ODD);
}
