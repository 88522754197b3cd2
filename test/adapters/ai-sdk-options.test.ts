import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RigOptions } from '../../src/core/rigs/rig-options.js';
import { RigError, type RigRequest } from '../../src/core/ports/rig.js';
import { callSettings } from '../../src/adapters/models/ai-sdk/model.js';
import { objectOf } from '../support/house.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { ADD, ask, collect, dialects, failure, KEY, rigAt, type Dialect } from './ai-sdk-dialects.js';

const OWN = 'sk-own-0123456789abcdefghij';

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.close());

/** What a request to the provider looked like. */
async function sent(dialect: Dialect, options: RigOptions, asked: Partial<RigRequest> = {}) {
  upstream.always((reply) => {
    dialect.say(reply, 'Hello');
    dialect.finish(reply);
  });
  await collect(rigAt(upstream.url, dialect, options), ask('hi', asked));
  const request = upstream.requests.at(-1);
  return { headers: request?.headers ?? {}, body: objectOf(request?.body) };
}

/** Where the API of each provider has the options, in a request with all of them. */
const PLACES = {
  'openai-compatible': { temperature: 0.5, max_tokens: 300, reasoning_effort: 'high' },
  openai: { max_output_tokens: 300, reasoning: { effort: 'high' } },
  anthropic: { temperature: 0.5, max_tokens: 300, output_config: { effort: 'high' } },
  google: {
    generationConfig: { temperature: 0.5, maxOutputTokens: 300, thinkingConfig: { thinkingLevel: 'high' } },
  },
};
const TITLE_PLACES = {
  'openai-compatible': { max_tokens: 2048, reasoning_effort: 'low' },
  openai: { max_output_tokens: 1024, reasoning: { effort: 'low' } },
  anthropic: { max_tokens: 2048, output_config: { effort: 'low' } },
  google: { generationConfig: { maxOutputTokens: 2048, thinkingConfig: { thinkingLevel: 'low' } } },
};

describe('an anthropic rig', () => {
  const [dialect] = dialects.filter(({ provider }) => provider === 'anthropic');
  if (dialect === undefined) throw new Error('anthropic');

  it('sends nothing that gateways to Bedrock and Vertex AI refuse', async () => {
    const options: RigOptions = { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } };
    for (const model of ['claude-sonnet-4-5', 'claude-opus-4-6', 'claude-unknown']) {
      const { body } = await sent({ ...dialect, model }, {}, { tools: [ADD] });
      expect(body.tools).toEqual([
        { name: 'math_add', description: ADD.description, input_schema: ADD.parameters },
      ]);
      expect(upstream.requests.at(-1)?.headers['anthropic-beta']).toBeUndefined();
      const { headers } = await sent({ ...dialect, model }, options, { tools: [ADD] });
      expect(headers['anthropic-beta']).toBe('context-1m-2025-08-07');
    }
  });

  it("streams the arguments of a call from Anthropic's own address", () => {
    const endpoint = { ...dialect, apiKey: KEY, options: {}, fetch: globalThis.fetch };
    const settings = (baseUrl: string) => callSettings('answer', { ...endpoint, baseUrl });
    expect(settings('https://api.anthropic.com/v1')).toMatchObject({
      providerOptions: { anthropic: { toolStreaming: true } },
    });
    expect(settings('https://gateway.example/v1')).toMatchObject({
      providerOptions: { anthropic: { toolStreaming: false } },
    });
  });
});

describe.each(dialects)('a rig of $provider', (dialect) => {
  // Only a reasoning model of OpenAI takes an effort; it takes no temperature.
  const named = dialect.provider === 'openai' ? { ...dialect, model: 'gpt-5.1' } : dialect;

  it('sends its temperature, its limit of tokens and its effort', async () => {
    const options: RigOptions = { temperature: 0.5, maxOutputTokens: 300, reasoning: 'high' };
    expect((await sent(named, options)).body).toMatchObject(PLACES[dialect.provider]);
    const { temperature, ...body } = (await sent(named, {})).body;
    expect(temperature).toBeUndefined();
    expect(JSON.stringify(body)).not.toMatch(/effort|thinking|max_output_tokens|maxOutputTokens/);
  });

  it('spends little on a title', async () => {
    const options: RigOptions = { maxOutputTokens: 4_000, reasoning: 'high' };
    expect((await sent(named, options, { purpose: 'title' })).body).toMatchObject(
      TITLE_PLACES[dialect.provider],
    );
    const least = { ...options, maxOutputTokens: 10 };
    expect(JSON.stringify((await sent(named, least, { purpose: 'title' })).body)).toMatch(
      /"(max_tokens|max_output_tokens|maxOutputTokens)":10\b/,
    );
  });

  it('sends its headers with every request, also beside a key of the client', async () => {
    const options: RigOptions = { headers: { 'x-title': 'Desk', 'x-gateway': 'g-1' } };
    const [header, value] = dialect.auth;
    expect((await sent(named, options)).headers).toMatchObject({
      ...{ 'x-title': 'Desk', 'x-gateway': 'g-1' },
      [header]: value,
    });
    expect((await sent(named, options, { apiKey: OWN })).headers).toMatchObject({
      'x-gateway': 'g-1',
      [header]: value.replace(KEY, OWN),
    });
    upstream.always((reply) => {
      reply.json(200, { data: [], models: [] });
    });
    await rigAt(upstream.url, named, options).check(new AbortController().signal);
    expect(upstream.requests.at(-1)?.headers).toMatchObject({ 'x-gateway': 'g-1', [header]: value });
  });

  it('sends no tools to a model without tools, nor the calls of the history', async () => {
    const call = { callId: 'c1', name: 'math.add', args: { a: 1 } };
    const toolResults = [{ callId: 'c1', name: 'math.add', result: 2, failed: false, multiStep: false }];
    const messages: RigRequest['messages'] = [
      { role: 'user', content: 'add' },
      { role: 'assistant', content: '', toolCalls: [call], toolResults },
      { role: 'user', content: 'again' },
    ];
    const asked = { messages, tools: [ADD] };
    expect(JSON.stringify((await sent(named, {}, asked)).body)).toContain('math_add');
    const { body } = await sent(named, { tools: false }, asked);
    expect(JSON.stringify(body)).not.toMatch(/tool|math|function/i);
    expect(JSON.stringify(body)).toContain('again');
    const report = await sent(named, { tools: false }, { messages: messages.slice(0, 2), tools: [ADD] });
    expect(JSON.stringify(report.body)).toContain('(The service reports: 2)');
  });

  it('uses the key of a request for that request alone, and says whose key was refused', async () => {
    upstream.always((reply) => {
      dialect.say(reply, 'Hello');
      dialect.finish(reply);
    });
    const rig = rigAt(upstream.url, dialect);
    const [header, value] = dialect.auth;
    await Promise.all([
      collect(rig, ask('a')),
      collect(rig, ask('b', { apiKey: OWN })),
      collect(rig, ask('c')),
    ]);
    const seen = upstream.requests.map(({ body, headers }) => [
      /"(a|b|c)"/.exec(JSON.stringify(body))?.[1],
      headers[header],
    ]);
    expect(seen.toSorted()).toEqual([
      ['a', value],
      ['b', value.replace(KEY, OWN)],
      ['c', value],
    ]);
    upstream.always((reply) => {
      reply.json(401, { error: { message: `bad key ${OWN}`, code: OWN } }, { 'x-request-id': OWN });
    });
    const error = await failure(collect(rig, ask('d', { apiKey: OWN })));
    expect(error).toBeInstanceOf(RigError);
    expect(error).toMatchObject({
      message: `Your key for ${dialect.provider} was refused. Store another one, or delete it to use the service's own.`,
      info: { retryable: false },
    });
    const malformed = await failure(collect(rig, ask('e', { apiKey: 'sk 1\r\nx: y' })));
    expect(malformed).toMatchObject({ message: expect.stringContaining(`Your key for ${dialect.provider}`) });
    expect(upstream.requests).toHaveLength(4);
    upstream.always((reply) => {
      reply.json(401, { error: { message: 'bad key' } });
    });
    expect(await failure(collect(rig, ask('f')))).toMatchObject({
      message: expect.stringContaining("this service's credentials"),
    });
  });
});
