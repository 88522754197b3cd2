import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/mistakes.js';
import { readConfig } from '../../src/config.js';

const ENV = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };

function read(rigs: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const yaml = `rigs:\n${rigs.map((rig) => `  - ${rig}\n`).join('')}`;
  return readConfig({ env: { ...ENV, ...env }, cwd: '/srv', readFile: () => yaml });
}

async function mistakesOf(...rigs: readonly string[]): Promise<readonly string[]> {
  const error: unknown = await read(rigs).catch((reason: unknown) => reason);
  if (error instanceof ConfigError)
    return error.message.split('\n').map((line) => line.replace('diptych.yaml: ', ''));
  throw new Error('the configuration was accepted');
}

describe('the options of a rig', () => {
  it('are those of the file, with header names in lower case and values from the environment', async () => {
    const { rigs } = await read(
      [
        "{ id: a, provider: openai, headers: { X-Title: Desk, x-gateway: '${GATEWAY}' }, temperature: 0.5 }",
        "{ id: b, provider: google, maxOutputTokens: '${MOST}', tools: false, reasoning: minimal }",
        '{ id: c, provider: anthropic, temperature: 0 }',
      ],
      { GATEWAY: 'g-1', MOST: '4000' },
    );
    const common = { apiKey: 'k', baseUrl: null, contextTokens: 128_000 };
    expect(rigs).toEqual([
      {
        ...{ ...common, id: 'a', name: 'a', model: 'a', provider: 'openai' },
        ...{ headers: { 'x-title': 'Desk', 'x-gateway': 'g-1' }, temperature: 0.5 },
      },
      {
        ...{ ...common, id: 'b', name: 'b', model: 'b', provider: 'google' },
        ...{ maxOutputTokens: 4_000, tools: false, reasoning: 'minimal' },
      },
      { ...common, id: 'c', name: 'c', model: 'c', provider: 'anthropic', temperature: 0 },
    ]);
  });

  it('have mistakes, each with its place', async () => {
    const efforts = 'none, minimal, low, medium, high, xhigh, max';
    expect(
      await mistakesOf(
        '{ id: a, provider: openai, temperature: 2.1, maxOutputTokens: 0, tools: 1, reasoning: hard }',
        '{ id: b, provider: anthropic, reasoning: none, maxOutputTokens: 64001 }',
        '{ id: c, provider: google, reasoning: xhigh, contextTokens: 1024, maxOutputTokens: 513 }',
        '{ id: d, provider: demo, temperature: 1, tools: false }',
        '{ id: e, provider: openai, headers: { Authorization: sk-hunter2, X-API-Key: k, \'a b\': c, x-ok: "line\\nbreak" } }',
        '{ id: f, provider: openai, headers: [a] }',
      ),
    ).toEqual(
      expect.arrayContaining([
        'rigs[0].temperature: must be a number from 0 to 2',
        'rigs[0].maxOutputTokens: must be a whole number of tokens, 1 or more',
        'rigs[0].tools: must be true or false',
        `rigs[0].reasoning: must be one of ${efforts}`,
        'rigs[1].reasoning: must be one of low, medium, high, xhigh, max with anthropic',
        'rigs[1].maxOutputTokens: must be at most half of contextTokens, 64000',
        'rigs[2].reasoning: must be one of minimal, low, medium, high with google',
        'rigs[2].maxOutputTokens: must be at most half of contextTokens, 512',
        'rigs[3].temperature: has no meaning with the provider demo; leave it out',
        'rigs[3].tools: has no meaning with the provider demo; leave it out',
        'rigs[4].headers.x-ok: must be printable ASCII text',
        'rigs[5].headers: must map names of headers to text',
      ]),
    );
  });

  it('may not set the headers of the service, whose values are not quoted', async () => {
    expect(
      await mistakesOf("{ id: e, provider: openai, headers: { Authorization: sk-hunter2, 'a b': c } }"),
    ).toEqual(
      expect.arrayContaining([
        'rigs[0].headers.Authorization: is a header that the service sets itself; the key belongs in apiKey',
        'rigs[0].headers.a b: must be the name of a header',
      ]),
    );
  });
});
