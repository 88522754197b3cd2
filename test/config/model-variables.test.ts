import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createRigs } from '../../src/composition/rigs.js';
import { ConfigError } from '../../src/config/mistakes.js';
import { readConfig, type ConfigSources } from '../../src/config.js';
import { ask, collect } from '../adapters/ai-sdk-dialects.js';
import { sayScript, startUpstream, type Upstream } from '../support/upstream.js';

const OLLAMA = 'http://127.0.0.1:11434/v1';

function read(env: ConfigSources['env'], yaml?: string) {
  return readConfig({
    env,
    cwd: '/srv/diptych',
    readFile: () => {
      if (yaml !== undefined) return yaml;
      throw Object.assign(new Error('none'), { code: 'ENOENT' });
    },
  });
}

async function rigsOf(env: ConfigSources['env'], yaml?: string) {
  const rigs = await createRigs(await read(env, yaml));
  return rigs.map(({ id, provider }) => `${provider}: ${id}`);
}

async function mistakesOf(env: ConfigSources['env'], yaml?: string): Promise<readonly string[]> {
  try {
    await read(env, yaml);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('MODEL', () => {
  it('registers a rig at OPENAI_BASE_URL', async () => {
    expect(await rigsOf({ OPENAI_BASE_URL: OLLAMA, MODEL: 'llama3.2' })).toEqual([
      'openai-compatible: llama3.2',
      'demo: demo',
    ]);
  });

  it('registers each model of a list once, in order, before the usual ones of other providers', async () => {
    const MODEL = ' qwen/qwen3:free ,claude-sonnet-5-5,, qwen/qwen3:free';
    const rigs = await rigsOf({
      OPENAI_BASE_URL: OLLAMA,
      MODEL,
      OPENAI_API_KEY: 'k',
      ANTHROPIC_API_KEY: 'k',
    });
    expect(rigs).toEqual([
      'openai-compatible: qwen/qwen3:free',
      'openai-compatible: claude-sonnet-5-5',
      'anthropic: claude-opus-5-5',
      'anthropic: claude-haiku-5-5',
      'demo: demo',
    ]);
  });

  it('names models of OpenAI when there is only its key', async () => {
    const env = { MODEL: 'gpt-4o,o9-mini', OPENAI_API_KEY: 'k' };
    expect(await rigsOf(env)).toEqual(['openai: gpt-4o', 'openai: o9-mini', 'demo: demo']);
    const [known, unknown] = await createRigs(await read(env));
    expect([known?.name, unknown?.name]).toEqual(['GPT-4o', 'o9-mini']);
  });

  it('registers nothing beside rigs of the file', async () => {
    const yaml = 'rigs: [{ id: a, provider: openai-compatible, baseUrl: http://127.0.0.1:1/v1 }]';
    expect(await rigsOf({ MODEL: 'llama3.2' }, yaml)).toEqual(['openai-compatible: a', 'demo: demo']);
  });

  it('leaves the rigs of Apps to be checked with those it registers', async () => {
    const yaml = 'apps: [{ name: a, rigs: [llama3.2] }]';
    const env = { OPENAI_BASE_URL: OLLAMA, MODEL: 'llama3.2' };
    expect((await read(env, yaml)).apps[1]?.rigs).toEqual(['llama3.2']);
  });

  it.each([
    [{ OPENAI_BASE_URL: OLLAMA }, [/^MODEL: is needed with OPENAI_BASE_URL: .*llama3\.2/]],
    [{ OPENAI_BASE_URL: OLLAMA, OPENAI_API_KEY: 'k' }, [/^MODEL: is needed/]],
    [{ OPENAI_BASE_URL: OLLAMA, MODEL: ' , ' }, [/^MODEL: must name at least one/]],
    [{ OPENAI_BASE_URL: OLLAMA, MODEL: 'a b' }, [/^MODEL: must have names/]],
    [{ OPENAI_BASE_URL: OLLAMA, MODEL: 'demo' }, [/^MODEL: must not name demo/]],
    [{ MODEL: 'llama3.2' }, [/^OPENAI_BASE_URL: is needed with MODEL: .*OPENAI_API_KEY/]],
    [{ OPENAI_BASE_URL: '', MODEL: '' }, []],
  ])('says what is missing or wrong in %j', async (env, expected) => {
    const mistakes = await mistakesOf(env);
    expect(mistakes).toHaveLength(expected.length);
    for (const [index, words] of expected.entries()) expect(mistakes[index]).toMatch(words);
  });
});

describe('OPENAI_BASE_URL', () => {
  it.each([
    ['127.0.0.1:11434/v1', /must be an http or https URL/],
    ['http://user:hunter2@gateway/v1?key=hunter2', /no query/],
    [`${OLLAMA}/chat/completions`, /ends before/],
  ])('refuses %s without showing it', async (OPENAI_BASE_URL, words) => {
    const [mistake = ''] = await mistakesOf({ OPENAI_BASE_URL, MODEL: 'llama3.2' });
    expect(mistake).toMatch(words);
    expect(mistake).not.toMatch(/hunter2/);
  });

  it('is checked although the file lists rigs', async () => {
    const yaml = 'rigs: [{ id: a, provider: anthropic, apiKey: k }]';
    expect(await mistakesOf({ OPENAI_BASE_URL: 'x' }, yaml)).toEqual([
      expect.stringMatching(/^OPENAI_BASE_URL: must be/),
    ]);
  });

  it('is not for a key of a rig with another address', async () => {
    const env = { OPENAI_BASE_URL: OLLAMA, OPENAI_API_KEY: 'k' };
    const rigAt = (more: string) => `rigs: [{ id: a, provider: openai, ${more} }]`;
    expect(await mistakesOf(env, rigAt('baseUrl: https://other.example/v1'))).toEqual([
      expect.stringMatching(/rigs\[0\]\.apiKey: is needed here: .*another address/),
    ]);
    expect(await mistakesOf(env, rigAt('baseUrl: https://other.example/v1, apiKey: k2'))).toEqual([]);
    expect(await mistakesOf(env, rigAt(`baseUrl: ${OLLAMA}/`))).toEqual([]);
  });

  it('is the address of every rig of OpenAI’s format without one, with the key in the environment', async () => {
    const yaml =
      'rigs: [{ id: a, provider: openai }, { id: b, provider: openai-compatible }, { id: c, provider: openai-compatible, baseUrl: "http://127.0.0.1:1/v1" }]';
    const { rigs } = await read({ OPENAI_BASE_URL: OLLAMA, OPENAI_API_KEY: 'k' }, yaml);
    expect(rigs).toMatchObject([
      { id: 'a', baseUrl: OLLAMA, apiKey: 'k' },
      { id: 'b', baseUrl: OLLAMA, apiKey: 'k' },
      { id: 'c', baseUrl: 'http://127.0.0.1:1/v1', apiKey: null },
    ]);
  });
});

describe('a rig of the environment', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  it.each([
    [undefined, undefined],
    ['sk-gateway', 'Bearer sk-gateway'],
  ])('requests chat completions at the address, with the key %j', async (OPENAI_API_KEY, authorization) => {
    upstream.next(sayScript('Hi'));
    const env = { OPENAI_BASE_URL: `${upstream.url}/v1/`, MODEL: 'llama3.2', OPENAI_API_KEY };
    const [rig] = await createRigs(await read(env));
    if (rig === undefined) throw new Error('there is no rig');
    expect(await collect(rig, ask('Hello'))).toContainEqual({ type: 'text', text: 'Hi' });
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: { model: 'llama3.2' },
    });
    expect(upstream.requests[0]?.headers.authorization).toBe(authorization);
  });

  it('of a file reaches the address too, with the Responses API', async () => {
    upstream.next((reply) => {
      reply.json(401, { error: { message: 'no' } });
    });
    const env = { OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-gateway' };
    const [rig] = await createRigs(await read(env, 'rigs: [{ id: gpt-4o, provider: openai }]'));
    if (rig === undefined) throw new Error('there is no rig');
    await expect(collect(rig, ask('Hello'))).rejects.toThrow(/credentials/);
    expect(upstream.requests[0]?.path).toBe('/v1/responses');
  });
});
