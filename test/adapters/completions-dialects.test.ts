import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import type { ToolCall } from '../../src/core/model/message.js';
import type { PromptMessage } from '../../src/core/ports/rig.js';
import { sayScript, startUpstream, type Upstream } from '../support/upstream.js';
import { ADD, ask, collect, failure } from './ai-sdk-dialects.js';
import { scriptedCompletions } from './scripted-completions.js';

const MISTRAL = 'https://api.mistral.ai/v1';
const user = (content: string): PromptMessage => ({ role: 'user', content });
const said = (content: string): PromptMessage => ({ ...called(), content });

/** A message with these calls and their results. */
function called(...callIds: readonly string[]): PromptMessage & { readonly role: 'assistant' } {
  const toolCalls = callIds.map((callId): ToolCall => ({ callId, name: 'math.add', args: {} }));
  const result = { name: 'math.add', result: 3, failed: false, multiStep: false };
  return {
    ...{ role: 'assistant', content: '', toolCalls },
    toolResults: callIds.map((callId) => ({ callId, ...result })),
  };
}

/** The messages that a server gets. */
async function messagesFor(
  messages: readonly PromptMessage[],
  { baseUrl, tools = true }: { readonly baseUrl?: string; readonly tools?: boolean } = {},
): Promise<readonly JsonObject[]> {
  const rig = scriptedCompletions(baseUrl, { tools });
  await rig.ask(ask('', { instructions: '', messages, tools: [ADD] }));
  const sent = rig.sent.messages;
  return Array.isArray(sent) ? sent.filter((message) => isJsonObject(message)) : [];
}

describe('the output limit', () => {
  it.each([
    ['https://api.openai.com/v1', 'max_completion_tokens'],
    ['https://desk.openai.azure.com/openai/v1', 'max_completion_tokens'],
    ['https://openrouter.ai/api/v1', 'max_tokens'],
    ['https://api.mistral.ai/v1', 'max_tokens'],
    ['https://gateway.example.com/api.openai.com/v1', 'max_tokens'],
  ])('at %s is %s', async (baseUrl, field) => {
    const rig = scriptedCompletions(baseUrl, { maxOutputTokens: 300 });
    await rig.ask(ask('hi'));
    expect(Object.entries(rig.sent).filter(([name]) => name.startsWith('max_'))).toEqual([[field, 300]]);
  });
});

describe('an output limit that a server refuses', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const rig = () =>
    createModelRig({
      ...{
        id: 'a',
        name: 'a',
        provider: 'openai-compatible',
        model: 'a',
        apiKey: null,
        contextTokens: 8_000,
      },
      ...{ baseUrl: `${upstream.url}/v1`, maxOutputTokens: 300 },
    });
  const limits = () =>
    upstream.requests.map(({ body }) =>
      Object.keys(isJsonObject(body) ? body : {}).filter((name) => name.startsWith('max_')),
    );
  const refuse = (message: string, status = 400) => {
    upstream.next((reply) => {
      reply.json(status, { error: { message, type: 'invalid_request_error' } });
    });
  };

  it('has the name that the server requires, from then on', async () => {
    const asked = rig();
    refuse(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    upstream.always(sayScript('ok'));
    await collect(asked, ask('hi'));
    await collect(asked, ask('hi'));
    expect(limits()).toEqual([['max_tokens'], ['max_completion_tokens'], ['max_completion_tokens']]);
  });

  it('is sent once if the server names both', async () => {
    refuse("'max_tokens' or 'max_completion_tokens' is too large: 300.");
    await failure(collect(rig(), ask('hi')));
    expect(limits()).toEqual([['max_tokens']]);
  });

  it('is sent twice at most', async () => {
    const words = "Use 'max_completion_tokens' instead.";
    refuse(words);
    refuse(words);
    await failure(collect(rig(), ask('hi')));
    expect(limits()).toEqual([['max_tokens'], ['max_completion_tokens']]);
  });
});

describe('the roles of messages', () => {
  const rolesOf = async (messages: readonly PromptMessage[], options: { tools?: boolean } = {}) =>
    (await messagesFor(messages, options)).map(({ role, content }) => [role, content]);

  it('alternate when turns had no reply', async () => {
    expect(await rolesOf([user('one'), user(' '), user('two'), said('Hi.'), user('three')])).toEqual([
      ['user', 'one\n\ntwo'],
      ['assistant', 'Hi.'],
      ['user', 'three'],
    ]);
  });

  it('have an assistant after the results of tools', async () => {
    expect(await rolesOf([user('add'), called('a', 'b'), user('again')])).toEqual([
      ['user', 'add'],
      ['assistant', null],
      ['tool', '3'],
      ['tool', '3'],
      ['assistant', '(This turn ended without a reply.)'],
      ['user', 'again'],
    ]);
  });

  it('alternate without the calls of the history', async () => {
    const history = [user('add'), { ...called('a'), content: 'Well.' }, said('It is 3.'), user('why?')];
    expect(await rolesOf(history, { tools: false })).toEqual([
      ['user', 'add'],
      ['assistant', 'Well.\n\nIt is 3.'],
      ['user', 'why?'],
    ]);
    const pending = [user('add'), called('a')];
    expect(await rolesOf(pending, { tools: false })).toEqual([['user', 'add\n\n(The service reports: 3)']]);
  });

  it('have all reports about wallet requests for a model without tools', async () => {
    const report = (result: string): PromptMessage & { readonly role: 'assistant' } => ({
      ...called('r'),
      toolCalls: [{ callId: 'r', name: 'wallet_report', args: {} }],
      toolResults: [{ callId: 'r', name: 'wallet_report', result, failed: false, multiStep: false }],
    });
    const history = [
      user('pay'),
      { ...report('request 1: confirmed'), content: 'Sign it.' },
      said('It is paid.'),
      user('again'),
      called('a'),
      report('request 2: rejected'),
      user('why?'),
      report('request 3: expired'),
    ];
    expect(await rolesOf(history, { tools: false })).toEqual([
      ['user', 'pay'],
      ['assistant', 'Sign it.'],
      ['user', '(The service reports: request 1: confirmed)'],
      ['assistant', 'It is paid.'],
      [
        'user',
        'again\n\n(The service reports: request 2: rejected)\n\nwhy?\n\n(The service reports: request 3: expired)',
      ],
    ]);
  });

  it('join a call to the text before it', async () => {
    expect(await rolesOf([user('add'), said('Well.'), { ...called('a'), content: 'I add.' }])).toEqual([
      ['user', 'add'],
      ['assistant', 'Well.\n\nI add.'],
      ['tool', '3'],
    ]);
  });
});

describe('the ids of calls', () => {
  const FOREIGN = ['call_abcdefghijkl', 'D681PevKs_2', '0198c1f2-7a31-7a33-8000-1b2c3d4e5f60', 'toolu 1'];

  /** The ids of the calls, and those that the results name. */
  async function idsFor(callIds: readonly string[], baseUrl?: string) {
    const messages = await messagesFor(
      [user('add'), called(...callIds)],
      baseUrl === undefined ? {} : { baseUrl },
    );
    const calls = messages.flatMap(({ tool_calls: list }) =>
      Array.isArray(list) ? list.filter(isJsonObject) : [],
    );
    return {
      calls: calls.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])),
      results: messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id])),
    };
  }

  it.each([
    ['at Mistral', MISTRAL, FOREIGN],
    ['in a history with ids of a Mistral model', undefined, ['D681PevKs', ...FOREIGN]],
  ])('have nine letters and digits %s', async (_where, baseUrl, callIds) => {
    const { calls, results } = await idsFor(callIds, baseUrl);
    expect(calls).toHaveLength(callIds.length);
    for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(new Set(calls).size).toBe(callIds.length);
    expect(results).toEqual(calls);
    expect(await idsFor(callIds, baseUrl)).toEqual({ calls, results });
    if (callIds.includes('D681PevKs')) expect(calls[0]).toBe('D681PevKs');
  });

  it('stay as they are elsewhere', async () => {
    expect((await idsFor(['call_abcdefghijkl', 'a.b'])).calls).toEqual(['call_abcdefghijkl', 'a_b']);
  });
});

describe('usage', () => {
  it.each([
    [MISTRAL, undefined],
    ['https://openrouter.ai/api/v1', { include_usage: true }],
  ])('is requested at %s by %j', async (baseUrl, expected) => {
    const rig = scriptedCompletions(baseUrl);
    await rig.ask(ask('hi'));
    expect(rig.sent.stream_options).toEqual(expected);
  });
});
