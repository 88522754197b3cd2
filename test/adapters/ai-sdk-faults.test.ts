import { APICallError } from '@ai-sdk/provider';
import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import { setImmediate as nextRound } from 'node:timers/promises';
import { RigError, type RigPart } from '../../src/core/ports/rig.js';
import { asRigError } from '../../src/adapters/models/rig-error.js';
import { retryAfter } from '../../src/adapters/models/retry-after.js';
import { Gate } from '../support/gate.js';
import {
  endChunk,
  startUpstream,
  textChunk,
  toolChunk,
  type Reply,
  type Upstream,
  type UpstreamRequest,
} from '../support/upstream.js';
import { ADD, ask, collect, dialects, failure, KEY, rigAt } from './ai-sdk-dialects.js';

const never = new AbortController().signal;

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.close());

/**
 * The error is one for who chats: nothing in it, and nothing in its causes, gives the key or what was said away. The
 * provider's words are for the operator alone, in one line without the key.
 */
function rigErrorOf(error: unknown): RigError {
  if (!(error instanceof RigError)) throw new Error('not a RigError', { cause: error });
  expect(error.message).not.toMatch(/https?:|127\.0\.0\.1|localhost|sk-|\/v1|at .*\.[jt]s|[{}]/);
  expect(error.message).toMatch(/[.]$/);
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    causes.push(cause.name, cause.message, JSON.stringify(cause));
    expect(cause.message).not.toMatch(/upstream says/);
  }
  expect(causes.length).toBeGreaterThan(0);
  expect(causes.join(' ')).not.toMatch(/sk-very-secret|my question/);
  expect(error.reason).toMatch(/^[^\n]{10,600}$/);
  expect(error.reason).not.toMatch(/sk-very|my question|\/\/127/);
  return error;
}

/** Sends the same again and again until the client has gone. */
async function flood(reply: Reply, { closed }: UpstreamRequest, piece: string): Promise<void> {
  const client = { isGone: false };
  void closed.then(() => (client.isGone = true));
  while (!client.isGone) {
    reply.raw(piece);
    await nextRound();
  }
}

describe('the openai-compatible rig, when the provider does not end', () => {
  const fail = async (): Promise<RigError> => {
    const [dialect] = dialects.filter(({ provider }) => provider === 'openai-compatible');
    if (dialect === undefined) throw new Error('no such dialect');
    return rigErrorOf(await failure(collect(rigAt(upstream.url, dialect), ask('my question'))));
  };

  it('gives up on a call whose arguments do not end', async () => {
    const piece = JSON.stringify(toolChunk(0, { arguments: '1+'.repeat(8_192) }));
    upstream.next((reply, request) => {
      reply.open();
      reply.event(toolChunk(0, { id: 'c', name: 'add', arguments: '{"a":' }));
      return flood(reply, request, `data: ${piece}\n\n`);
    });
    expect((await fail()).message).toMatch(/could not be read/);
  });

  it.each([
    ['lines that are no events', 'a\n'.repeat(10_000)],
    ['comments', ': wait\n\n'.repeat(5_000)],
    ['events without a choice', `data: {"choices":[],"pad":"${'x'.repeat(1_000_000)}"}\n\n`],
  ])('gives up on %s that do not end', async (_, piece) => {
    upstream.next((reply, request) => {
      reply.open();
      return flood(reply, request, piece);
    });
    expect((await fail()).message).toMatch(/could not be read/);
  });

  it.each([
    ['nests too deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['has too many values', `[${'{},'.repeat(100_000)}0]`],
  ])('does not parse an event that %s', async (_, json) => {
    upstream.next((reply) => {
      reply.open();
      reply.raw(`data: {"choices":[],"x":${json}}\n\n`);
      reply.event(endChunk());
    });
    expect(await fail()).toMatchObject({ cause: { code: 'complex_event' } });
  });

  it('gives up on a refusal that does not end, and says what it means', async () => {
    upstream.next((reply, request) => {
      reply.head(500);
      return flood(reply, request, 'no '.repeat(20_000));
    });
    expect(await fail()).toMatchObject({ info: { retryable: true } });
    const request = await upstream.request(0);
    expect(await request.closed).toBe('aborted');
  });
});

describe.each(dialects)('the $provider rig, when the provider fails', (dialect) => {
  const question = ask('my question');
  const fail = async (): Promise<RigError> =>
    rigErrorOf(await failure(collect(rigAt(upstream.url, dialect), question)));

  it.each([
    [401, false, /API key/],
    [403, false, /API key/],
    [402, false, /credit/],
    [404, false, /does not know this model/],
    [413, false, /too long/],
    [422, false, /did not accept/],
    [429, true, /Wait a little/],
    [500, true, /has a problem/],
    [503, true, /has a problem/],
    [529, true, /has a problem/],
    [302, false, /not set up correctly/],
  ])('says what a status %i means', async (status, retryable, words) => {
    upstream.next((reply) => {
      reply.json(status, { error: { message: `upstream says ${KEY}`, type: 'x y', code: status } });
    });
    const error = await fail();
    expect(error.message).toMatch(words);
    expect(error.info).toEqual({ retryable });
    expect(error.reason).toContain(`(HTTP ${String(status)}: upstream says [key])`);
    expect(upstream.requests).toHaveLength(1);
  });

  it('says when the conversation is too long', async () => {
    const message = 'upstream says: prompt is too long: 9000 tokens > 8000 maximum context length';
    upstream.next((reply) => {
      reply.json(400, {
        error: { message, type: 'invalid_request_error', code: 400, status: 'INVALID_ARGUMENT' },
      });
    });
    const error = await fail();
    expect(error.message).toMatch(/too long for this model/);
    expect(error.info.retryable).toBe(false);
  });

  it.each([
    ['a line', ''],
    ['an event', 'data: {"x":"'],
    ['a comment', ': '],
  ])('gives up on an answer with %s that does not end', async (_, beginning) => {
    upstream.next((reply, request) => {
      reply.open();
      reply.raw(beginning);
      return flood(reply, request, 'a'.repeat(65_536));
    });
    expect((await fail()).message).toMatch(/could not be read/);
    const request = await upstream.request(0);
    expect(await request.closed).toBe('aborted');
  });

  it('passes on how long to wait', async () => {
    upstream.next((reply) => {
      reply.json(429, { error: { message: 'x', code: 429 } }, { 'retry-after': '7' });
    });
    expect((await fail()).info).toEqual({ retryable: true, retryAfterMs: 7_000 });
  });

  it('says that an error page is not a model', async () => {
    upstream.next((reply) => {
      reply.open({ 'content-type': 'text/html; charset=utf-8' });
      reply.raw('<html>upstream says welcome</html>');
    });
    expect((await fail()).message).toMatch(/not set up correctly/);
  });

  it('keeps what was said before the connection was dropped', async () => {
    upstream.next(async (reply) => {
      dialect.say(reply, 'Hel');
      await saidHel;
      reply.drop();
    });
    let release: () => void = () => undefined;
    const saidHel = new Promise<void>((resolve) => (release = resolve));
    const texts: string[] = [];
    const reading = rigAt(upstream.url, dialect).respond(question, never, (part) => {
      if (part.type === 'text') texts.push(part.text);
      release();
    });
    const error = rigErrorOf(await failure(reading));
    expect(texts).toEqual(['Hel']);
    expect(error.message).toMatch(/connection was cut/);
    expect(error.info.retryable).toBe(true);
  });

  it('takes a stream that ends too early for a cut one', async () => {
    upstream.next((reply) => {
      dialect.say(reply, 'Hel');
    });
    const error = await fail();
    expect(error.message).toMatch(/connection was cut/);
    expect(error.info.retryable).toBe(true);
  });

  it('fails on garbage in the stream', async () => {
    upstream.next((reply) => {
      dialect.say(reply, 'Hel');
      reply.raw('data: {"upstream says\n\n');
      dialect.finish(reply);
    });
    const error = await fail();
    expect(error.message).toMatch(/could not be read/);
    expect(error.info.retryable).toBe(true);
  });

  it('closes the connection at once on an abort, and throws its reason', async () => {
    upstream.next(async (reply) => {
      dialect.say(reply, 'Hel');
      await reply.hang();
    });
    const abort = new AbortController();
    const reason = new Error('enough');
    const seen: RigPart[] = [];
    const reading = rigAt(upstream.url, dialect).respond(question, abort.signal, (part) => {
      seen.push(part);
      setImmediate(() => {
        abort.abort(reason);
      });
    });
    const request = await upstream.request(0);
    expect(await failure(reading)).toBe(reason);
    expect(seen).toEqual([{ type: 'text', text: 'Hel' }]);
    expect(await request.closed).toBe('aborted');
  });

  it('throws the reason of an abort before the first byte', async () => {
    upstream.next((reply) => reply.hang());
    const abort = new AbortController();
    const reading = failure(collect(rigAt(upstream.url, dialect), question, abort.signal));
    const request = await upstream.request(0);
    abort.abort('no more');
    expect(await reading).toBe('no more');
    expect(await request.closed).toBe('aborted');
  });

  it('says that nobody answers', async () => {
    await upstream.close();
    const error = await fail();
    upstream = await startUpstream();
    expect(error.message).toMatch(/cannot be reached/);
    expect(error.info.retryable).toBe(true);
  });

  it('does not send a key that no header can carry', async () => {
    const rig = rigAt(upstream.url, dialect, { apiKey: `${KEY}\u2026` });
    const error = rigErrorOf(await failure(collect(rig, question)));
    expect(error.message).toMatch(/API key/);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe.each(dialects)('a complete response of $provider', (dialect) => {
  const respond = async (take: () => void = () => undefined): Promise<readonly RigPart[]> => {
    const parts: RigPart[] = [];
    await rigAt(upstream.url, dialect).respond(ask('my question'), never, (part) => {
      parts.push(part);
      take();
    });
    return parts;
  };
  const whole = [{ type: 'text', text: 'all of it' }, expect.objectContaining({ type: 'end' })];

  it('needs no end of its connection', async () => {
    upstream.next(async (reply) => {
      dialect.say(reply, 'all of it');
      dialect.finish(reply);
      await reply.hang();
    });
    expect(await respond()).toEqual(whole);
    expect(await upstream.requests[0]?.closed).toBe('aborted');
  });

  it('stays complete when its connection breaks then', async () => {
    const taken = new Gate();
    upstream.next(async (reply) => {
      dialect.say(reply, 'all of it');
      dialect.finish(reply);
      await taken.passed;
      reply.drop();
    });
    expect(await respond(taken.open)).toEqual(whole);
  });

  it('leaves its connection to the next one', async () => {
    upstream.always((reply) => {
      dialect.say(reply, 'all of it');
      dialect.finish(reply);
    });
    const rig = rigAt(upstream.url, dialect);
    for (let n = 0; n < 3; n++) await collect(rig, ask('my question'));
    expect(upstream.connections).toBe(1);
  });
});

describe('an answer in the chat completions dialect', () => {
  const rig = () => {
    const [dialect] = dialects;
    if (dialect === undefined) throw new Error('openai-compatible');
    return rigAt(upstream.url, dialect);
  };
  const answer = async (...events: readonly object[]) => {
    upstream.next((reply) => {
      reply.open();
      for (const event of events) reply.event(event);
      reply.event('[DONE]');
    });
    return collect(rig(), ask('my question', { tools: [ADD] }));
  };
  const call = (args: string) => toolChunk(0, { id: 'call_a', name: 'math_add', arguments: args });

  it('that is a web page is not waited for', async () => {
    upstream.next(async (reply) => {
      reply.open({ 'content-type': 'text/html' });
      reply.raw('<html>');
      await reply.hang();
    });
    const error = rigErrorOf(await failure(collect(rig(), ask('my question'))));
    expect(error.message).toMatch(/not set up correctly/);
    expect(await upstream.requests[0]?.closed).toBe('aborted');
  });

  it('that is over leaves its connection to the next one, whatever came of it', async () => {
    const ours = rig();
    const say = async (...events: readonly object[]) => {
      upstream.next((reply) => {
        reply.open();
        for (const event of events) reply.event(event);
      });
      return collect(ours, ask('my question'));
    };
    await say(textChunk('one'), endChunk());
    rigErrorOf(await failure(say(endChunk('length'))));
    upstream.next((reply) => {
      reply.json(500, { error: { message: 'x' } });
    });
    rigErrorOf(await failure(collect(ours, ask('my question'))));
    await say(textChunk('two'), endChunk());
    expect(upstream.connections).toBe(1);
  });

  it('that broke off within a line leaves nothing of it to the next one', async () => {
    const ours = rig();
    const broken = [
      'data: {"choices"',
      `data: {\n\ndata: ${JSON.stringify(textChunk('late'))}\n\ndata: {"ch`,
    ];
    for (const text of broken) {
      upstream.next((reply) => {
        reply.open();
        reply.event(textChunk('one'));
        reply.raw(text);
      });
      rigErrorOf(await failure(collect(ours, ask('my question'))));
      upstream.next((reply) => {
        reply.open();
        reply.event(textChunk('two'));
        reply.event(endChunk());
      });
      const [part] = await collect(ours, ask('my question'));
      expect(part).toEqual({ type: 'text', text: 'two' });
    }
  });

  it('that reached its limit keeps its text', async () => {
    const parts = await answer(textChunk('so far'), endChunk('length'));
    expect(parts.map(({ type }) => type)).toEqual(['text', 'end']);
  });

  it('that reached its limit before a word fails', async () => {
    const error = rigErrorOf(await failure(answer(endChunk('length'))));
    expect(error.message).toMatch(/ran out of room/);
    expect(error.info.retryable).toBe(false);
  });

  it('that was stopped by a filter fails for good', async () => {
    const error = rigErrorOf(await failure(answer(textChunk('so'), endChunk('content_filter'))));
    expect(error.message).toMatch(/content rules/);
    expect(error.info.retryable).toBe(false);
  });

  it.each(['null', '{}', ''])('whose call has arguments %j has none', async (args) => {
    const [part] = await answer(call(args), endChunk('tool_calls'));
    expect(part).toEqual({ type: 'tool_call', call: { callId: 'call_a', name: 'math.add', args: {} } });
  });

  it('whose call was cut off by the limit says so to the model', async () => {
    const [part] = await answer(call('{"a": '), endChunk('length'));
    const problem = expect.stringMatching(/cut off at your output limit/);
    expect(part).toMatchObject({ type: 'tool_call', call: { callId: 'call_a', args: {}, problem } });
  });

  it.each([[{ a: 1 }], [[1]]])('whose call has %j itself, not its text, is read like text', async (args) => {
    const [part] = await answer(
      toolChunk(0, { id: 'call_a', name: 'math_add', arguments: args }),
      endChunk('tool_calls'),
    );
    const read = Array.isArray(args) ? { args: {}, problem: expect.stringMatching(/JSON array/) } : { args };
    expect(part).toEqual({ type: 'tool_call', call: { callId: 'call_a', name: 'math.add', ...read } });
  });

  it('that is cut after a whole call runs nothing', async () => {
    upstream.next((reply) => {
      reply.open();
      reply.event(call('{"a":1}'));
    });
    const seen: string[] = [];
    const reading = rig().respond(ask('my question'), never, (part) => seen.push(part.type));
    expect(rigErrorOf(await failure(reading)).message).toMatch(/connection was cut/);
    expect(seen).toEqual([]);
  });

  it.each([
    [{ error: { message: 'upstream says no', type: 'overloaded_error' } }, /has a problem/, true],
    [{ error: { message: 'upstream says no', code: 'insufficient_quota' } }, /no credit/, false],
    [{ error: { message: 'upstream says no', code: 429 } }, /Wait a little/, true],
    [{ error: { message: 'upstream says no' } }, /has a problem/, true],
  ])('that has an error in it says which: %j', async (event, words, retryable) => {
    const error = rigErrorOf(await failure(answer(textChunk('so'), event)));
    expect(error.message).toMatch(words);
    expect(error.info.retryable).toBe(retryable);
  });
});

function callToGoogle() {
  const endpoint = {
    provider: 'google',
    model: 'm',
    baseUrl: upstream.url,
    apiKey: KEY,
    options: {},
  } as const;
  return { endpoint: { ...endpoint, fetch: globalThis.fetch }, request: ask('my question') };
}

test('a request that the package of a provider cannot express is refused for good', async () => {
  const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
  const model = createGoogleGenerativeAI({ apiKey: KEY, baseURL: upstream.url })('gemini-2.5-flash');
  const tool = { type: 'function', name: 'x', inputSchema: { $ref: '#/properties/x' } } as const;
  const thrown = await failure(Promise.resolve(model.doStream({ prompt: [], tools: [tool] })));
  const error = rigErrorOf(asRigError(thrown, callToGoogle()));
  expect(error.message).toMatch(/did not accept the request/);
  expect(error.info.retryable).toBe(false);
  expect(error.reason).toMatch(
    /\(AI_UnsupportedFunctionalityError: not sent: JSON Schema reference: #\/properties\/x: /,
  );
  expect(upstream.requests).toHaveLength(0);
});

describe('a TypeError of a provider package', () => {
  const network = (message: string, code: string) =>
    new TypeError(message, { cause: Object.assign(new Error('socket'), { code }) });
  const bug = () => new TypeError("Cannot read properties of null (reading 'parts')");
  const wrapped = new APICallError({
    ...{
      message: 'Failed to process successful response',
      url: 'https://x',
      requestBodyValues: { text: 'my question' },
    },
    ...{ statusCode: 200, cause: bug() },
  });

  it.each([
    ['a bug in parsing', bug(), false, /could not be read.*Choose another model/],
    ['a wrapped bug', wrapped, false, /could not be read.*Choose another model/],
    ['no connection', network('fetch failed', 'ECONNREFUSED'), true, /cannot be reached/],
    [
      'a timeout of the connection',
      network('fetch failed', 'UND_ERR_CONNECT_TIMEOUT'),
      true,
      /cannot be reached/,
    ],
    ['an invalid URL', network('Failed to parse URL from x', 'ERR_INVALID_URL'), false, /could not be read/],
    ['a connection that was cut', network('terminated', 'UND_ERR_SOCKET'), true, /was cut/],
  ])('that means %s is retried only if that can help', (_what, thrown, retryable, words) => {
    const error = rigErrorOf(asRigError(thrown, callToGoogle()));
    expect(error.info.retryable).toBe(retryable);
    expect(error.message).toMatch(words);
  });
});

test('an account without credit is not asked again', async () => {
  const [, dialect] = dialects;
  if (dialect === undefined) throw new Error('openai');
  upstream.next((reply) => {
    reply.json(429, { error: { message: 'x', type: 'insufficient_quota', code: 'insufficient_quota' } });
  });
  const error = rigErrorOf(await failure(collect(rigAt(upstream.url, dialect), ask('hi'))));
  expect(error.message).toMatch(/no credit/);
  expect(error.info.retryable).toBe(false);
});

test('a key is needed where the provider needs one', async () => {
  for (const dialect of dialects.slice(1)) {
    const rig = rigAt(upstream.url, dialect, { apiKey: null });
    const error = rigErrorOf(await failure(collect(rig, ask('hi'))));
    expect(error.message).toMatch(/API key/);
  }
  expect(upstream.requests).toHaveLength(0);
});

test.each([
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, '', 250],
  [{ 'retry-after': '1.5' }, '', 1_500],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, '', 59_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, '', undefined],
  [{ 'retry-after': '0' }, '', undefined],
  [{}, '{"retryDelay": "0s"}', undefined],
  [{ 'retry-after': 'soon' }, '', undefined],
  [{}, '{"error":{"details":[{"retryDelay": "34s"}]}}', 34_000],
  [{}, '', undefined],
])('the wait in %j %s is %p ms', (headers, body, expected) => {
  expect(retryAfter({ status: 429, headers: { ...headers }, body }, 1_000)).toBe(expected);
});
