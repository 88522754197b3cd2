import { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import type { PromptMessage } from '../../src/core/ports/rig.js';
import { startUpstream, toolChunk, endChunk, type Upstream } from '../support/upstream.js';
import { ADD, ask, collect, dialects, KEY, rigAt } from './ai-sdk-dialects.js';

const usage = {
  prompt_tokens: 11,
  completion_tokens: 5,
  input_tokens: 11,
  output_tokens: 5,
  promptTokenCount: 11,
  candidatesTokenCount: 5,
};

describe.each(dialects)('the $provider rig, against a simulated provider', (dialect) => {
  const mock = new LLMock({ port: 0, chunkSize: 4 });
  beforeAll(async () => {
    mock.onMessage('hello', { content: 'Hello there, friend', usage });
    mock.onMessage('one call', {
      toolCalls: [{ id: 'call_a', name: 'math_add', arguments: { a: 1, b: 2 } }],
      usage,
    });
    mock.onMessage('two calls', {
      toolCalls: [
        { id: 'call_a', name: 'math_add', arguments: { a: 1, b: 2 } },
        { id: 'call_b', name: 'math_add', arguments: { a: 3, b: 4 } },
      ],
      usage,
    });
    mock.onMessage('words and a call', {
      content: 'Let me add.',
      toolCalls: [{ id: 'call_a', name: 'math_add', arguments: {} }],
      usage,
    });
    await mock.start();
  });
  afterAll(() => mock.stop());

  const end = { type: 'end', usage: { inputTokens: 11, outputTokens: 5 } };
  const call = (callId: string, a: number, b: number) => ({
    type: 'tool_call',
    call: { callId, name: 'math.add', args: { a, b } },
  });

  it('streams text in pieces and says what it cost', async () => {
    const parts = await collect(rigAt(mock.url, dialect), ask('hello'));
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts.join('')).toBe('Hello there, friend');
    expect(texts.length).toBeGreaterThan(2);
    expect(parts.at(-1)).toEqual(end);
  });

  it('calls one tool by its own name', async () => {
    const rig = rigAt(mock.url, dialect);
    const parts = await collect(rig, ask('one call', { tools: [ADD] }));
    expect(parts).toEqual([call('call_a', 1, 2), end]);
  });

  it('calls tools in parallel', async () => {
    const rig = rigAt(mock.url, dialect);
    const parts = await collect(rig, ask('two calls', { tools: [ADD] }));
    expect(parts).toEqual([call('call_a', 1, 2), call('call_b', 3, 4), end]);
  });

  it('sends text before it calls a tool', async () => {
    const rig = rigAt(mock.url, dialect);
    const parts = await collect(rig, ask('words and a call', { tools: [ADD] }));
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts.join('')).toBe('Let me add.');
    expect(parts.slice(texts.length)).toEqual([
      { type: 'tool_call', call: { callId: 'call_a', name: 'math.add', args: {} } },
      end,
    ]);
  });
});

describe('requests on the wire', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const history: readonly PromptMessage[] = [
    { role: 'user', content: 'add twice' },
    {
      role: 'assistant',
      content: 'Adding.',
      toolCalls: [
        { callId: 'call_a', name: 'math.add', args: { a: 1, b: 2 } },
        { callId: 'call_b', name: 'math.add', args: { a: 3 } },
      ],
      toolResults: [
        { callId: 'call_b', name: 'math.add', result: 'b is missing', failed: true, multiStep: false },
        { callId: 'call_a', name: 'math.add', result: { sum: 3 }, failed: false, multiStep: false },
      ],
    },
  ];
  const schema = { properties: { a: { type: 'number' }, b: { type: 'number' } }, type: 'object' };

  async function sent(name: string): Promise<unknown> {
    const dialect = dialects.find(({ provider }) => provider === name);
    if (dialect === undefined) throw new Error(name);
    upstream.next((reply) => {
      dialect.say(reply, 'ok');
      dialect.finish(reply);
    });
    await collect(rigAt(upstream.url, dialect), ask('', { messages: history, tools: [ADD] }));
    const [request] = upstream.requests;
    const [header, value] = dialect.auth;
    expect(request?.headers[header]).toBe(value);
    return request?.body;
  }

  test('openai-compatible sends results as tool messages', async () => {
    const functionCall = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'math_add', arguments: args },
    });
    expect(await sent('openai-compatible')).toMatchObject({
      model: 'local-model',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'add twice' },
        {
          role: 'assistant',
          content: 'Adding.',
          tool_calls: [functionCall('call_a', '{"a":1,"b":2}'), functionCall('call_b', '{"a":3}')],
        },
        { role: 'tool', tool_call_id: 'call_a', content: '{"sum":3}' },
        { role: 'tool', tool_call_id: 'call_b', content: 'b is missing' },
      ],
      tools: [{ type: 'function', function: { name: 'math_add', parameters: schema } }],
    });
    expect(upstream.requests[0]?.path).toBe('/v1/chat/completions');
  });

  test('openai sends results as function outputs, and has nothing stored', async () => {
    expect(await sent('openai')).toMatchObject({
      model: 'gpt-4o',
      stream: true,
      store: false,
      input: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'input_text', text: 'add twice' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Adding.' }] },
        { type: 'function_call', call_id: 'call_a', name: 'math_add', arguments: '{"a":1,"b":2}' },
        { type: 'function_call', call_id: 'call_b', name: 'math_add', arguments: '{"a":3}' },
        { type: 'function_call_output', call_id: 'call_a', output: '{"sum":3}' },
        { type: 'function_call_output', call_id: 'call_b', output: 'b is missing' },
      ],
      tools: [{ type: 'function', name: 'math_add', parameters: schema, strict: false }],
    });
    expect(upstream.requests[0]?.path).toBe('/v1/responses');
  });

  test('anthropic sends results as tool_result blocks, failed ones as errors', async () => {
    expect(await sent('anthropic')).toMatchObject({
      model: 'claude-sonnet-4-5',
      stream: true,
      system: [{ type: 'text', text: 'Be kind.' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'add twice' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Adding.' },
            { type: 'tool_use', id: 'call_a', name: 'math_add', input: { a: 1, b: 2 } },
            { type: 'tool_use', id: 'call_b', name: 'math_add', input: { a: 3 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_a', content: '{"sum":3}' },
            { type: 'tool_result', tool_use_id: 'call_b', content: 'b is missing', is_error: true },
          ],
        },
      ],
      tools: [{ name: 'math_add', input_schema: schema }],
    });
    expect(upstream.requests[0]?.path).toBe('/v1/messages');
  });

  test('google sends results as function responses', async () => {
    const response = (content: string) => ({ functionResponse: { name: 'math_add', response: { content } } });
    expect(await sent('google')).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be kind.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'add twice' }] },
        {
          role: 'model',
          parts: [
            { text: 'Adding.' },
            { functionCall: { name: 'math_add', args: { a: 1, b: 2 } } },
            { functionCall: { name: 'math_add', args: { a: 3 } } },
          ],
        },
        { role: 'user', parts: [response('{"sum":3}'), response('b is missing')] },
      ],
      tools: [{ functionDeclarations: [{ name: 'math_add' }] }],
    });
    expect(upstream.requests[0]?.path).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
  });

  test('a signature that Gemini gives with a call goes back with it, in its session only', async () => {
    const dialect = dialects[3];
    if (dialect === undefined) throw new Error('google');
    const part = { functionCall: { name: 'math_add', args: { a: 1 } }, thoughtSignature: 'c2lnbmVk' };
    upstream.next((reply) => {
      reply.open();
      reply.event({
        candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      });
    });
    upstream.next((reply) => {
      dialect.say(reply, '1');
      dialect.finish(reply);
    });
    const rig = rigAt(upstream.url, dialect);
    const [first] = await collect(rig, ask('add', { tools: [ADD] }));
    if (first?.type !== 'tool_call') throw new Error('no call');
    const { callId, name } = first.call;
    const toolResults = [{ callId, name, result: 1, failed: false, multiStep: false }];
    const messages: PromptMessage[] = [
      { role: 'user', content: 'add' },
      { role: 'assistant', content: '', toolCalls: [first.call], toolResults },
    ];
    await collect(rig, ask('', { messages, tools: [ADD] }));
    expect(upstream.requests[1]?.body).toMatchObject({
      contents: [{ role: 'user' }, { role: 'model', parts: [part] }, { role: 'user' }],
    });
    upstream.next((reply) => {
      dialect.say(reply, '1');
      dialect.finish(reply);
    });
    await collect(rig, ask('', { sessionId: 'of another client', messages, tools: [ADD] }));
    expect(JSON.stringify(upstream.requests[2]?.body)).not.toContain('c2lnbmVk');
  });

  test.each(dialects)(
    '$provider: a title is asked for without tools and with a small limit',
    async (dialect) => {
      upstream.next((reply) => {
        dialect.say(reply, 'A title');
        dialect.finish(reply);
      });
      const rig = rigAt(upstream.url, dialect);
      await collect(rig, ask('', { purpose: 'title', messages: history, tools: [ADD] }));
      const body = JSON.stringify(upstream.requests[0]?.body);
      expect(body).not.toContain('math');
      expect(body).toMatch(/"(max_tokens|max_output_tokens|maxOutputTokens)":\d{3,4}\b/);
    },
  );

  test.each(dialects)(
    '$provider: tools of the history are declared when none is offered',
    async (dialect) => {
      upstream.next((reply) => {
        dialect.say(reply, 'ok');
        dialect.finish(reply);
      });
      await collect(rigAt(upstream.url, dialect), ask('', { messages: history }));
      const body = JSON.stringify(upstream.requests[0]?.body);
      expect(body).toContain('No longer available.');
      expect(body).toMatch(/"tool_?choice":"none"|"tool_choice":\{"type":"none"|"mode":"NONE"/i);
    },
  );

  test('arguments in pieces, without any, and a repeated call id', async () => {
    const dialect = dialects[0];
    if (dialect === undefined) throw new Error('openai-compatible');
    upstream.next((reply) => {
      reply.open();
      reply.event(toolChunk(0, { id: 'call_a', name: 'math_add', arguments: '{"a":' }));
      reply.event(toolChunk(0, { arguments: '5}' }));
      reply.event(toolChunk(1, { id: 'call_z', name: 'math_add', arguments: '' }));
      reply.event(endChunk('tool_calls'));
    });
    const parts = await collect(rigAt(upstream.url, dialect), ask('', { messages: history, tools: [ADD] }));
    expect(parts.map((part) => (part.type === 'tool_call' ? part.call : part.type))).toEqual([
      { callId: 'call_a_2', name: 'math.add', args: { a: 5 } },
      { callId: 'call_z', name: 'math.add', args: {} },
      'end',
    ]);
  });

  test('a rig without a key sends none where that is allowed', async () => {
    const dialect = dialects[0];
    if (dialect === undefined) throw new Error('openai-compatible');
    upstream.next((reply) => {
      dialect.say(reply, 'ok');
      dialect.finish(reply);
    });
    await collect(rigAt(upstream.url, dialect, { apiKey: null }), ask('hi'));
    expect(upstream.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(upstream.requests[0])).not.toContain(KEY);
  });
});

describe.each(dialects)('a call of the $provider rig whose arguments are no object', (dialect) => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const broken = dialect.provider === 'google' ? [] : [['{"a": 1', 'not valid JSON'] as const];

  it.each([
    ['[1]', 'a JSON array'],
    // Google's package passes a string on without its quotes.
    ['"text"', dialect.provider === 'google' ? 'not valid JSON' : 'a JSON string'],
    ['7', 'a JSON number'],
    ['true', 'a JSON boolean'],
    ...broken,
  ])('fails alone, with words to the model: %s', async (args, words) => {
    upstream.next((reply) => {
      dialect.call(reply, [
        { id: 'call_a', args },
        { id: 'call_b', args: '{"a":2}' },
      ]);
    });
    const parts = await collect(rigAt(upstream.url, dialect), ask('add', { tools: [ADD] }));
    const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.call] : []));
    const problem = expect.stringContaining(`its arguments were ${words}, and must be one JSON object`);
    expect(calls).toMatchObject([{ args: {}, problem }, { args: { a: 2 } }]);
    expect(calls[1]).not.toHaveProperty('problem');
    expect(parts.at(-1)).toMatchObject({ type: 'end' });
  });
});
