import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import type { ModelHttpClient } from '../../src/adapters/models/http/client.js';
import { CallMemory } from '../../src/adapters/models/call-memory.js';
import { createCompletions } from '../../src/adapters/models/openai-compatible/respond.js';
import type { Endpoint } from '../../src/adapters/models/endpoint.js';
import type { ModelRequest } from '../../src/adapters/models/http/exchange.js';
import { outlineOf } from '../../src/adapters/models/request-outline.js';
import { readParts } from '../../src/adapters/models/ai-sdk/parts.js';
import { buildPrompt } from '../../src/adapters/models/ai-sdk/prompt.js';
import { asRigError } from '../../src/adapters/models/rig-error.js';
import { RigError, type PromptMessage, type RigPart, type RigRequest } from '../../src/core/ports/rig.js';
import { endChunk, textChunk, toolChunk } from '../support/upstream.js';
import { ADD, ask } from './ai-sdk-dialects.js';

// Our own reading of chat completions against that of the package which knows the format: the same bytes, the same
// parts and faults.

/** An answer as it comes from the network. */
interface Scripted {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly pieces: readonly Uint8Array[];
}

/** What a rig made of it. */
interface Outcome {
  readonly request: string;
  readonly parts: readonly RigPart[];
  readonly error: { readonly message: string; readonly info: RigError['info'] } | null;
}

const never = new AbortController().signal;
const endpoint: Endpoint = {
  ...{ provider: 'openai-compatible', model: 'local', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-1' },
  options: {},
  fetch: () => Promise.reject(new Error('not to be used')),
};

async function outcome(
  request: () => string,
  answer: (take: (part: RigPart) => void) => Promise<void>,
): Promise<Outcome> {
  const parts: RigPart[] = [];
  try {
    await answer((part) => parts.push(part));
    return { request: request(), parts, error: null };
  } catch (error) {
    if (!(error instanceof RigError)) throw error;
    return { request: request(), parts, error: { message: error.message, info: error.info } };
  }
}

function byUs(request: RigRequest, { status = 200, headers = {}, pieces }: Scripted): Promise<Outcome> {
  let sent: ModelRequest | undefined;
  const client: Pick<ModelHttpClient, 'open'> = {
    open(call, listener) {
      sent = call;
      const ignore = () => undefined;
      const response = { pause: ignore, resume: ignore, cancel: ignore };
      listener.onResponse({ status, statusText: '', headers: { ...EVENTS, ...headers } }, response);
      for (const piece of pieces) listener.onData(Buffer.from(piece));
      listener.onEnd();
      return response;
    },
  };
  const { respond } = createCompletions(endpoint, client, () => new CallMemory().ofSession('m'));
  return outcome(
    () => sent?.body ?? '',
    (take) => respond(request, never, take),
  );
}

function byPackage(request: RigRequest, { status = 200, headers = {}, pieces }: Scripted): Promise<Outcome> {
  let sent = '';
  const model = createOpenAICompatible({
    ...{ name: 'compatible', baseURL: endpoint.baseUrl, includeUsage: true },
    fetch: (_url, init) => {
      sent = typeof init?.body === 'string' ? init.body : '';
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of pieces) controller.enqueue(piece);
          controller.close();
        },
      });
      return Promise.resolve(new Response(body, { status, headers: { ...EVENTS, ...headers } }));
    },
  })(endpoint.model);
  const outline = outlineOf(request);
  async function respond(take: (part: RigPart) => void): Promise<void> {
    const { messages, tools } = buildPrompt(request.instructions, outline, {
      ...{ provider: 'openai-compatible', known: new CallMemory().ofSession('m') },
    });
    try {
      const { stream } = await model.doStream({
        prompt: messages,
        ...(tools.length === 0 ? {} : { tools }),
        ...(outline.toolsAreHistory ? { toolChoice: { type: 'none' } } : {}),
        ...(request.purpose === 'title' ? { maxOutputTokens: 2048 } : {}),
      });
      const known = new CallMemory().ofSession('m');
      for await (const part of readParts(stream, { outline, known, onEvent: () => undefined })) take(part);
    } catch (error) {
      throw asRigError(error, { endpoint, request });
    }
  }
  return outcome(() => sent, respond);
}

const EVENTS = { 'content-type': 'text/event-stream' };
const question = ask('my question', { tools: [ADD] });

function frames(...events: readonly unknown[]): string {
  return events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');
}

/** The stream in pieces that end at these places. */
function cut(stream: string, places: readonly number[] = []): Uint8Array[] {
  const bytes = Buffer.from(stream);
  const ends = [...new Set([...places.map((place) => place % (bytes.length + 1)), bytes.length])];
  ends.sort((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

/** Each piece but the last ends with a mark. */
function cutAfter(mark: string, stream: string): Uint8Array[] {
  const ends = stream.split(mark).slice(0, -1);
  return cut(
    stream,
    ends.map((_, at) => Buffer.byteLength(ends.slice(0, at + 1).join(mark) + mark)),
  );
}

/** Both outcomes. Ids that no server sent are made up, and differ. */
async function both(scripted: Scripted, request = question): Promise<[Outcome, Outcome]> {
  const all = Buffer.concat(scripted.pieces).toString();
  const [ours, theirs] = await Promise.all([byUs(request, scripted), byPackage(request, scripted)]);
  const known = ({ parts, ...rest }: Outcome): Outcome => ({
    ...rest,
    parts: parts.map((part) => {
      if (part.type !== 'tool_call' || all.includes(`"id":"${part.call.callId}"`)) return part;
      return { ...part, call: { ...part.call, callId: 'made up' } };
    }),
  });
  return [known(ours), known(theirs)];
}

const chunkOf = (delta: object, more: object = {}, finish: string | null = null) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const piece = (fields: object) => chunkOf({ tool_calls: [fields] });
const END = frames(endChunk(), '[DONE]');
/** As Python writes JSON. */
const spaced = (...texts: readonly string[]) =>
  texts.map((text) => JSON.stringify(textChunk(text)).replaceAll('":', '": '));
/** The text is put in as it is. */
const torn = (...texts: readonly string[]) =>
  texts.map((text) => JSON.stringify(textChunk('?')).replace('?', () => text));
/** The last one of a name counts. */
const twice = (...texts: readonly string[]) =>
  texts.map((text) =>
    JSON.stringify(textChunk('last')).replace('"content"', () => `"content":"${text}","content"`),
  );
const CALLED = frames(endChunk('tool_calls'), '[DONE]');

const STREAMS: readonly (readonly [string, string])[] = [
  ['text', frames(textChunk('Grüße'), textChunk(' 👋'), textChunk('\n\n"x" data: ')) + END],
  [
    'an empty first piece with a role',
    frames(chunkOf({ role: 'assistant', content: '' }), textChunk('x')) + END,
  ],
  ['text beside the end', frames(chunkOf({ content: 'last' }, {}, 'stop'))],
  [
    'usage in a chunk of its own',
    frames(
      textChunk('x'),
      chunkOf({}, {}, 'stop'),
      { choices: [], usage: { prompt_tokens: 4, completion_tokens: 2 } },
      '[DONE]',
    ),
  ],
  ['no usage', frames(textChunk('x'), chunkOf({}, {}, 'stop'))],
  [
    'half a usage',
    frames(textChunk('x'), chunkOf({}, { usage: { prompt_tokens: 4, completion_tokens: null } }, 'stop')),
  ],
  ['a broken usage', frames(textChunk('x'), chunkOf({}, { usage: { prompt_tokens: '4' } }, 'stop'))],
  [
    'thoughts',
    frames(chunkOf({ reasoning_content: 'hm' }), chunkOf({ reasoning: 'hm' }), textChunk('x')) + END,
  ],
  ['text beside a thought', frames(chunkOf({ content: 'x', reasoning_content: 'y' })) + END],
  [
    'text in parts',
    frames(
      chunkOf({
        content: [
          { type: 'text', text: 'a' },
          { type: 'thinking', thinking: [] },
          { type: 'text', text: 'b' },
        ],
      }),
    ) + END,
  ],
  ['chunks that are alike', frames(...['one', ' "two"', '\\', '\n', '👋', '', ' '].map(textChunk)) + END],
  ['chunks that are alike and spaced', frames(...spaced('one', ' two', ' "three"')) + END],
  ['a broken string in a chunk like the others', frames(...torn('one', 'two', 'th\tree')) + END],
  ['two strings in the place of one', frames(...torn('one', 'two', 'x","content":"three')) + END],
  [
    'a string that ends with the chunk',
    frames(...torn('one', 'two')) + frames('{"choices":[{"delta":{"content":'),
  ],
  [
    'another content before the text',
    frames(...['p', 'q', 'r', 's'].map((content) => ({ note: { content }, ...textChunk('same') }))) + END,
  ],
  [
    'another content before other texts',
    frames(...['p', 'q', 'r', 's'].map((content) => ({ note: { content }, ...textChunk(content + 'x') }))) +
      END,
  ],
  ['a content that is there twice', frames(...twice('p', 'q', 'r')) + END],
  [
    'text beside the pieces of a call',
    frames(
      toolChunk(0, { id: 'a', name: 'x', arguments: '{"n":"' }),
      ...['p', 'q', 'r'].map((content) =>
        chunkOf({ content, tool_calls: [{ index: 0, function: { arguments: '7' } }] }),
      ),
      toolChunk(0, { arguments: '"}' }),
    ) + CALLED,
  ],
  [
    'usage in each of the chunks that are alike',
    frames(...['p', 'q', 'r'].map((content) => chunkOf({ content }, { usage: { prompt_tokens: 4 } }))) + END,
  ],
  ['an end in each of them', frames(...['p', 'q', 'r'].map((content) => chunkOf({ content }, {}, 'length')))],
  ['a content that is a number', frames(chunkOf({ content: 7 })) + END],
  ['parts that are none', frames(chunkOf({ content: ['x'] })) + END],
  ['other ends of lines', (frames(textChunk('one'), textChunk('two')) + END).replaceAll('\n', '\r\n')],
  ['data without a blank', (frames(textChunk('one')) + END).replaceAll('data: ', 'data:')],
  [
    'comments, names and ids',
    `: hello\n\nevent: x\nid: 1\nretry: 5\n${frames(textChunk('x'))}strange: y\n\n${END}`,
  ],
  ['data on two lines', `data: {"choices":\ndata: []}\n\n${frames(textChunk('x'))}${END}`],
  ['a byte order mark', `\uFEFF${frames(textChunk('x'))}${END}`],
  ['nothing', ''],
  ['only an end mark', frames('[DONE]')],
  ['no end', frames(textChunk('Hel'))],
  ['an end without its blank line', frames(textChunk('Hel')) + `data: ${JSON.stringify(endChunk())}`],
  ['text after the end mark', frames(textChunk('x'), endChunk(), '[DONE]', textChunk('y'))],
  ['what is not JSON', frames(textChunk('x'), '{"upstream')],
  ['an empty event', `${frames(textChunk('x'))}data:\n\n${END}`],
  ['a number', frames(textChunk('x'), '7') + END],
  ['a list', frames(textChunk('x'), '[]') + END],
  ['an object of another kind', frames(textChunk('x'), { object: 'ping' }) + END],
  ['choices that are none', frames({ choices: {} }) + END],
  ['a choice that is none', frames({ choices: ['x'] }) + END],
  ['a choice without a delta', frames(textChunk('x'), { choices: [{ index: 0 }] }) + END],
  ['a delta that is none', frames({ choices: [{ index: 0, delta: 'x' }] }) + END],
  [
    'an error',
    frames(textChunk('x'), { error: { message: 'upstream says no', type: 'server_error', code: 500 } }),
  ],
  ['an error of rate', frames({ error: { message: 'slow down', code: 429 } })],
  ['an error of credit', frames({ error: { message: 'x', code: 'insufficient_quota' } })],
  [
    'an error of context',
    frames({ error: { message: 'maximum context length', type: 'invalid_request_error' } }),
  ],
  ['an error without a message', frames({ error: { code: 500 } })],
  [
    'an error beside choices',
    frames(chunkOf({ content: '' }, { error: { code: 429, message: 'slow' } }, 'error')),
  ],
  ['a filter', frames(textChunk('so'), endChunk('content_filter'))],
  ['a limit', frames(textChunk('so'), endChunk('length'))],
  ['a limit before a word', frames(endChunk('length'))],
  ['an end of its own', frames(textChunk('so'), endChunk('eos'))],
  ['an end that is a number', frames(textChunk('so'), { choices: [{ delta: {}, finish_reason: 7 }] })],
  [
    'a call',
    frames(
      toolChunk(0, { id: 'a', name: 'math_add', arguments: '{"a":' }),
      toolChunk(0, { arguments: '1}' }),
    ) + CALLED,
  ],
  [
    'words and a call',
    frames(textChunk('I add.'), toolChunk(0, { id: 'a', name: 'math_add', arguments: '{}' })) + CALLED,
  ],
  [
    'calls side by side',
    frames(
      toolChunk(0, { id: 'a', name: 'x', arguments: '{"n":' }),
      toolChunk(1, { id: 'b', name: 'y', arguments: '{"m":' }),
      toolChunk(0, { arguments: '1}' }),
      toolChunk(1, { arguments: '2}' }),
    ) + CALLED,
  ],
  [
    'calls in the other order',
    frames(
      toolChunk(1, { id: 'b', name: 'y', arguments: '{}' }),
      toolChunk(0, { id: 'a', name: 'x', arguments: '{}' }),
    ) + CALLED,
  ],
  [
    'calls without numbers',
    frames(
      piece({ id: 'a', function: { name: 'x', arguments: '{"n":1}' } }),
      piece({ id: 'b', function: { name: 'x', arguments: '{"n":2}' } }),
    ) + CALLED,
  ],
  [
    'calls that all have the number 0',
    frames(
      toolChunk(0, { id: 'a', name: 'x', arguments: '{"n":1}' }),
      toolChunk(0, { id: 'b', name: 'x', arguments: '{"n":2}' }),
    ) + CALLED,
  ],
  [
    'a name after its arguments',
    frames(
      piece({ index: 0, id: 'a', function: { arguments: '{"n":' } }),
      piece({ index: 0, function: { name: 'x', arguments: '1}' } }),
    ) + CALLED,
  ],
  ['no name at all', frames(piece({ index: 0, id: 'a', function: { arguments: '{}' } })) + CALLED],
  ['no name and no number', frames(piece({ id: 'a', function: { arguments: '{}' } })) + CALLED],
  ['an empty name', frames(piece({ index: 0, id: 'a', function: { name: '', arguments: '{}' } })) + CALLED],
  [
    'a name in each piece',
    frames(
      toolChunk(0, { id: 'a', name: 'x', arguments: '{"n"' }),
      toolChunk(0, { id: 'a', name: 'x', arguments: ':1}' }),
    ) + CALLED,
  ],
  [
    'no id',
    frames(
      piece({ index: 0, function: { name: 'x', arguments: '{}' } }),
      piece({ index: 1, function: { name: 'y', arguments: '{}' } }),
    ) + CALLED,
  ],
  [
    'one id for two calls',
    frames(
      toolChunk(0, { id: 'a', name: 'x', arguments: '{}' }),
      toolChunk(1, { id: 'a', name: 'y', arguments: '{}' }),
    ) + CALLED,
  ],
  ['arguments that are null', frames(toolChunk(0, { id: 'a', name: 'x', arguments: 'null' })) + CALLED],
  ['arguments that are a list', frames(toolChunk(0, { id: 'a', name: 'x', arguments: '[1]' })) + CALLED],
  [
    'arguments cut by the limit',
    frames(toolChunk(0, { id: 'a', name: 'x', arguments: '{"n' }), endChunk('length')),
  ],
  ['a call without an end', frames(toolChunk(0, { id: 'a', name: 'x', arguments: '{}' }))],
  ['pieces that are none', frames(chunkOf({ tool_calls: 'x' })) + CALLED],
  ['a piece without a function', frames(piece({ index: 0, id: 'a' })) + CALLED],
  [
    'a number that is text',
    frames(piece({ index: '0', id: 'a', function: { name: 'x', arguments: '{}' } })) + CALLED,
  ],
];

describe('chat completions, read by us and by the package', () => {
  test.each(STREAMS)('%s', async (_name, stream) => {
    const [ours, theirs] = await both({ pieces: cut(stream) });
    expect(ours).toEqual(theirs);
  });

  test.each(STREAMS)('%s, an event a piece', async (_name, stream) => {
    const [ours, theirs] = await both({ pieces: cutAfter('\n\n', stream) });
    expect(ours).toEqual(theirs);
  });

  it('are the same whatever pieces they come in', async () => {
    for (const [name, stream] of STREAMS) {
      const whole = await byUs(question, { pieces: cut(stream) });
      const bytes = cut(
        stream,
        Array.from({ length: Buffer.byteLength(stream) }, (_, at) => at),
      );
      for (const pieces of [bytes, cutAfter('\n', stream)])
        expect([name, await byUs(question, { pieces })]).toEqual([name, whole]);
    }
  });

  it('are cut at any place the same', async () => {
    const stream =
      frames(textChunk('Grüße'), toolChunk(0, { id: 'a', name: 'x', arguments: '{"ä":1}' })) + CALLED;
    const length = Buffer.byteLength(stream);
    for (let at = 0; at < length; at += 3) {
      const [ours, theirs] = await both({ pieces: cut(stream, [at]).slice(0, 1) });
      expect([at, ours]).toEqual([at, theirs]);
    }
  });

  test.each([
    [400, {}, { error: { message: 'prompt is too long', type: 'invalid_request_error' } }],
    [401, {}, { error: { message: 'no', code: 'invalid_api_key' } }],
    [429, { 'retry-after': '7' }, { error: { message: 'slow', code: 429 } }],
    [429, {}, { error: { message: 'x', code: 'insufficient_quota' } }],
    [429, {}, [{ error: { code: 429, details: [{ retryDelay: '3s' }] } }]],
    [500, {}, 'Internal Server Error'],
    [302, { location: 'http://elsewhere' }, ''],
    [404, {}, {}],
  ])('a refusal with status %i', async (status, headers, body) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const [ours, theirs] = await both({ status, headers, pieces: cut(text, [3]) });
    expect(ours).toEqual(theirs);
    expect(ours.error).not.toBeNull();
  });

  it('have the same text, however alike their chunks are', async () => {
    const text = fc.oneof(
      fc.constantFrom('a', 'b', '', '"', '\\'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const before = fc.oneof(
      { weight: 9, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.constantFrom<object>({ note: { content: 'x' } }, { usage: null }) },
    );
    const chunk = fc.tuple(text, before);
    const places = fc.array(fc.nat(), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 12 }), places, async (chunks, more) => {
        const all = chunks.map(([content, first]) => ({ ...first, ...textChunk(content.toWellFormed()) }));
        // Several events in a piece, or one, or a part of one.
        const firsts = frames(...all.slice(0, 3));
        const stream = frames(...all) + END;
        const [ours, theirs] = await both({ pieces: cut(stream, [Buffer.byteLength(firsts), ...more]) });
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 200 },
    );
  });

  it('have the same calls, however strangely they are put into pieces', async () => {
    const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
    const delta = fc.record({
      index: maybe(fc.constantFrom(0, 1)),
      id: maybe(fc.constantFrom('a', 'b', '')),
      function: fc.record({
        name: maybe(fc.constantFrom('x', 'y', '')),
        arguments: maybe(fc.constantFrom('{"n":', '1}', '{"m":2}', '', '[3]', ' ')),
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(delta, { maxLength: 6 }), async (deltas) => {
        const [ours, theirs] = await both({ pieces: cut(frames(...deltas.map(piece)) + CALLED) });
        expect(ours).toEqual(theirs);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a request for a chat completion, ours and that of the package', () => {
  const history: readonly PromptMessage[] = [
    { role: 'assistant', content: 'cut off before', toolCalls: [], toolResults: [] },
    { role: 'user', content: 'add "twice" \u{1F44B}' },
    {
      role: 'assistant',
      content: '  ',
      toolCalls: [
        { callId: 'call a', name: 'math.add', args: { a: 1, b: 2 } },
        { callId: 'call_b', name: 'gone.tool', args: {} },
      ],
      toolResults: [
        { callId: 'call_b', name: 'gone.tool', result: 'b is missing', failed: true, multiStep: false },
      ],
    },
    { role: 'assistant', content: ' ', toolCalls: [], toolResults: [] },
    { role: 'assistant', content: 'I added.', toolCalls: [], toolResults: [] },
    { role: 'user', content: '' },
  ];
  test.each<[string, Partial<RigRequest>]>([
    ['a first question', {}],
    ['without instructions', { instructions: ' ' }],
    ['with tools', { tools: [ADD, { name: '1st', description: '', parameters: { type: 'object', x: [] } }] }],
    ['with a history', { messages: history, tools: [ADD] }],
    ['with tools of its history alone', { messages: history }],
    ['for a title', { purpose: 'title', messages: history, tools: [ADD] }],
  ])('%s', async (_name, changes) => {
    const [ours, theirs] = await both({ pieces: cut(END) }, ask('my question', changes));
    expect(ours.request).toBe(theirs.request);
    expect(ours.request).toContain('"stream":true');
  });
});
