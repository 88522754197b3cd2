import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLog } from '../../src/adapters/telemetry/pino/log.js';
import { faultOfAnswer } from '../../src/adapters/models/classify.js';
import { cleanLine, NO_SECRETS, providerWords, secretsOf } from '../../src/adapters/models/provider-words.js';
import type { RigSettings } from '../../src/adapters/models/create-rig.js';
import { RigError } from '../../src/core/ports/rig.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { ADD, ask, collect, dialects, failure, KEY, rigAt } from './ai-sdk-dialects.js';

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.close());

/** What each server of models responds with, by status and body. */
const RESPONSES: readonly {
  readonly of: string;
  readonly provider: RigSettings['provider'];
  readonly status: number;
  readonly body: unknown;
  readonly retryable?: boolean;
  readonly user: RegExp;
  readonly reason: RegExp;
}[] = [
  {
    of: 'Ollama without the model',
    provider: 'openai-compatible',
    status: 404,
    body: {
      error: {
        message: 'model "llama9" not found, try pulling it first',
        type: 'api_error',
        param: null,
        code: null,
      },
    },
    user: /does not know this model/,
    reason: /\(HTTP 404, api_error: model "llama9" not found, try pulling it first\)$/,
  },
  {
    of: 'Ollama with a model without tools',
    provider: 'openai-compatible',
    status: 400,
    body: {
      error: {
        message: 'registry.ollama.ai/library/gemma:2b does not support tools',
        type: 'api_error',
        param: null,
        code: null,
      },
    },
    user: /cannot use tools/,
    reason: /^this model takes no tools: set `tools: false` .*gemma:2b does not support tools\)$/,
  },
  {
    of: 'vLLM without the model',
    provider: 'openai-compatible',
    status: 404,
    body: {
      object: 'error',
      message: 'The model `llama9` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
    user: /does not know this model/,
    reason: /\(HTTP 404, NotFoundError: The model `llama9` does not exist\.\)$/,
  },
  {
    of: 'vLLM without a parser of tool calls',
    provider: 'openai-compatible',
    status: 400,
    body: {
      object: 'error',
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    user: /cannot use tools/,
    reason: /takes no tools.*--tool-call-parser/,
  },
  {
    of: 'LM Studio',
    provider: 'openai-compatible',
    status: 400,
    body: { error: 'Model "llama9" not found. Please specify a valid model.' },
    user: /does not know this model/,
    reason: /\(HTTP 400: Model "llama9" not found\./,
  },
  {
    of: 'llama.cpp without a template for tools',
    provider: 'openai-compatible',
    status: 500,
    body: { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
    user: /cannot use tools/,
    reason: /takes no tools.*--jinja/,
  },
  {
    of: 'OpenRouter with a model without tools',
    provider: 'openai-compatible',
    status: 404,
    body: {
      error: { message: 'No endpoints found that support tool use. See https://x.example', code: 404 },
    },
    user: /cannot use tools/,
    reason: /takes no tools/,
  },
  {
    of: 'OpenRouter that passes an error on',
    provider: 'openai-compatible',
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: 'bad top_k', provider_name: 'X' },
      },
    },
    user: /did not accept/,
    reason: /\(HTTP 400: Provider returned error: bad top_k\)$/,
  },
  {
    of: 'a path that does not exist',
    provider: 'openai-compatible',
    status: 404,
    body: { detail: 'Not Found' },
    user: /does not know this model/,
    reason: /model and baseUrl.*\(HTTP 404: Not Found\)$/,
  },
  {
    of: 'OpenAI about the key',
    provider: 'openai',
    status: 401,
    body: {
      error: {
        message: `Incorrect API key provided: ${KEY.slice(0, 8)}***********6789. You can find your API key at https://platform.openai.com/account/api-keys.`,
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    },
    user: /API key/,
    reason: /\(HTTP 401, invalid_api_key: Incorrect API key provided: \[key\] You can find/,
  },
  {
    of: 'OpenAI without credit',
    provider: 'openai',
    status: 429,
    body: {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
    user: /no credit/,
    reason: /no credit.*\(HTTP 429, insufficient_quota: You exceeded your current quota/,
  },
  {
    of: 'OpenAI without the model',
    provider: 'openai',
    status: 404,
    body: {
      error: {
        message: 'The model `gpt-9` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    },
    user: /does not know this model/,
    reason: /\(HTTP 404, model_not_found: The model `gpt-9` does not exist/,
  },
  {
    of: 'Anthropic without the model',
    provider: 'anthropic',
    status: 404,
    body: { type: 'error', error: { type: 'not_found_error', message: 'model: claude-9' } },
    user: /does not know this model/,
    reason: /\(HTTP 404, not_found_error: model: claude-9\)$/,
  },
  {
    of: 'Anthropic about the key',
    provider: 'anthropic',
    status: 401,
    body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    user: /API key/,
    reason: /\(HTTP 401, authentication_error: invalid x-api-key\)$/,
  },
  {
    of: 'Google without the model',
    provider: 'google',
    status: 404,
    body: {
      error: {
        code: 404,
        message:
          'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
        status: 'NOT_FOUND',
      },
    },
    user: /does not know this model/,
    reason: /\(HTTP 404, NOT_FOUND: models\/gemini-9 is not found/,
  },
  {
    of: 'Google with a model without tools',
    provider: 'google',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'Function calling is not enabled for models/gemma-3-27b-it',
        status: 'INVALID_ARGUMENT',
      },
    },
    user: /cannot use tools/,
    reason: /takes no tools.*INVALID_ARGUMENT/,
  },
  {
    of: 'OpenAI about a flagged prompt',
    provider: 'openai',
    status: 400,
    body: {
      error: {
        message:
          'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_prompt',
      },
    },
    user: /content rules/,
    reason: /content rules\. \(HTTP 400, invalid_prompt: Invalid prompt/,
  },
  {
    of: 'OpenAI in a country that it does not serve',
    provider: 'openai',
    status: 403,
    body: {
      error: {
        code: 'unsupported_country_region_territory',
        message: 'Country, region, or territory not supported',
        param: null,
        type: 'request_forbidden',
      },
    },
    user: /not available from where this service runs/,
    reason:
      /^the provider does not serve the country or region of this server\. \(HTTP 403, unsupported_country_region_territory/,
  },
  {
    of: 'Google in a country that it does not serve',
    provider: 'google',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'User location is not supported for the API use.',
        status: 'FAILED_PRECONDITION',
      },
    },
    user: /not available from where this service runs/,
    reason: /country or region of this server\. \(HTTP 400, FAILED_PRECONDITION/,
  },
  {
    of: 'OpenRouter about flagged input',
    provider: 'openai-compatible',
    status: 403,
    body: {
      error: {
        message:
          'anthropic/claude-3-5-haiku requires moderation on Amazon Bedrock. Your input was flagged for "self-harm/instructions". No credits were charged.',
        code: 403,
        metadata: {
          reasons: ['self-harm/instructions'],
          flagged_input: 'how to ...',
          provider_name: 'Amazon Bedrock',
          model_slug: 'anthropic/claude-3-5-haiku',
        },
      },
    },
    user: /content rules/,
    reason: /content rules\. \(HTTP 403: anthropic\/claude-3-5-haiku requires moderation/,
  },
  {
    of: 'xAI about its guidelines',
    provider: 'openai-compatible',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error:
        'Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
    user: /content rules/,
    reason: /content rules\. \(HTTP 403: Content violates usage guidelines/,
  },
  {
    of: 'xAI about the key',
    provider: 'openai-compatible',
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
    },
    user: /API key/,
    reason: /did not accept the API key.*\(HTTP 400: Incorrect API key provided: \[key\]/,
  },
  {
    of: 'xAI about a long conversation',
    provider: 'openai-compatible',
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    },
    user: /too long for this model/,
    reason: /contextTokens.*maximum prompt length/,
  },
  {
    of: 'Anthropic about a long conversation',
    provider: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
      },
      request_id: 'req_011CUB2XUHWkFnQzxcKBbjpF',
    },
    user: /too long for this model/,
    reason: /contextTokens.*exceed context limit/,
  },
  {
    of: 'Anthropic about its filter',
    provider: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' },
      request_id: 'req_011CaxpBxEpLvE6AvvuDD5BW',
    },
    user: /content rules/,
    reason: /content rules.*Output blocked/,
  },
  {
    of: 'Groq about a call that its model garbled',
    provider: 'openai-compatible',
    status: 400,
    body: {
      error: {
        message:
          "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        failed_generation: '<function=pay>{"account": "billing"}</function>',
      },
    },
    retryable: true,
    user: /could not be read\. Send your message again/,
    reason: /could not be read\. \(HTTP 400, tool_use_failed: Failed to call a function/,
  },
  {
    of: 'OpenRouter about the spending limit of a key',
    provider: 'openai-compatible',
    status: 403,
    body: {
      error: {
        message: 'Key limit exceeded (monthly limit). Manage it using https://openrouter.ai/settings/keys',
        code: 403,
      },
    },
    retryable: false,
    user: /has reached its spending limit/,
    reason: /spending limit.*\(HTTP 403: Key limit exceeded \(monthly limit\)/,
  },
  {
    of: 'Anthropic about the spending limit of an account',
    provider: 'anthropic',
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
      },
    },
    retryable: false,
    user: /has reached its spending limit/,
    reason: /spending limit.*will regain access/,
  },
  {
    of: 'OpenAI about the number of tools',
    provider: 'openai',
    status: 400,
    body: {
      error: {
        message:
          "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.",
        type: 'invalid_request_error',
        param: 'tools',
        code: 'array_above_max_length',
      },
    },
    retryable: false,
    user: /more tools than its provider accepts/,
    reason: /Name fewer in the App's `tools`.*\(HTTP 400, array_above_max_length: .*maximum length 128/,
  },
];

function dialectOf(provider: RigSettings['provider']) {
  const found = dialects.find((dialect) => dialect.provider === provider);
  if (found === undefined) throw new Error(provider);
  return found;
}

async function fail(status: number, body: unknown, provider: RigSettings['provider'] = 'openai-compatible') {
  upstream.next((reply) => {
    reply.json(status, body);
  });
  const rig = rigAt(upstream.url, dialectOf(provider));
  const error = await failure(collect(rig, ask('my question', { tools: [ADD] })));
  if (!(error instanceof RigError)) throw new Error('not a RigError', { cause: error });
  return error;
}

describe('a response of', () => {
  it.each(RESPONSES)('$of says why to the operator, and what to do to the user', async (response) => {
    const error = await fail(response.status, response.body, response.provider);
    expect(error.message).toMatch(response.user);
    expect(error.reason).toMatch(response.reason);
    expect(error.message).not.toMatch(/HTTP|llama9|gpt-9|claude-9|gemini-9/);
    if (response.retryable !== undefined) expect(error.info.retryable).toBe(response.retryable);
  });

  it('a provider is logged with its status, code and words, without the key', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
    const body = { error: { message: `no access for ${KEY}\nat all`, code: 'no_access' } };
    log.error({ err: await fail(403, body) }, 'turn failed');
    expect(JSON.parse(lines.join(''))).toMatchObject({
      err: {
        reason: expect.stringMatching(/\(HTTP 403, no_access: no access for \[key\] at all\)$/),
        cause: { status: 403, code: 'no_access' },
      },
    });
    expect(lines.join('')).not.toContain(KEY);
  });

  it('a provider to a request with a key of the client shows neither key', async () => {
    const own = 'client-key-of-somebody-42';
    upstream.next((reply) => {
      reply.json(401, { error: { message: `bad: ${own}, ${KEY}, ${KEY.slice(9)}`, code: own } });
    });
    const rig = rigAt(upstream.url, dialectOf('openai-compatible'));
    const error = await failure(collect(rig, ask('my question', { apiKey: own })));
    if (!(error instanceof RigError)) throw new Error('not a RigError', { cause: error });
    expect(error.reason).toMatch(
      /^with the client's own key: .*\(HTTP 401: bad: \[key\], \[key\], \[key\]\)$/,
    );
    expect(error.message).toMatch(/^Your key for openai-compatible was refused/);
  });

  it.each([
    ['the conversation', 'answer', 'My grandmother lives at 12 Elm Street\nin Springfield'],
    ['a conversation that needs a title', 'title', 'User:\n> My grandmother\n> lives at\n> 12 Elm Street'],
  ] as const)('a provider that quotes %s shows none of it', async (_, purpose, quoted) => {
    const said = quoted.replace('User:\n> ', '').replaceAll('\n> ', '\n');
    upstream.next((reply) => {
      reply.json(400, { error: { message: `Invalid value at content: "${quoted}" (too rude). Use OK.` } });
    });
    const rig = rigAt(upstream.url, dialectOf('openai-compatible'));
    const error = await failure(collect(rig, ask(said, { purpose })));
    expect(error).toMatchObject({
      reason: expect.stringMatching(
        /\(HTTP 400: Invalid value at content: "\[quoted\]" \(too rude\)\. Use OK\.\)$/,
      ),
    });
  });

  it('a stream that fails is explained too', async () => {
    upstream.next((reply) => {
      reply.open();
      reply.event({ error: { message: `llama runner crashed with ${KEY}`, type: 'server_error' } });
    });
    const error = await failure(collect(rigAt(upstream.url, dialectOf('openai-compatible')), ask('hi')));
    expect(error).toMatchObject({
      reason: expect.stringMatching(/\(server_error: llama runner crashed with \[key\]\)$/),
    });
  });
});

describe('a stream', () => {
  it('that ends with a call that the model of Groq garbled can be repeated', async () => {
    upstream.next((reply) => {
      reply.open();
      const error = { message: 'Failed to call a function.', type: 'invalid_request_error' };
      reply.event({ error: { ...error, code: 'tool_use_failed', status_code: 400 } }, 'error');
    });
    const error = await failure(collect(rigAt(upstream.url, dialectOf('openai-compatible')), ask('hi')));
    expect(error).toMatchObject({
      info: { retryable: true },
      message: expect.stringMatching(/could not be read/),
    });
  });
});

describe('providerWords', () => {
  const words = (body: unknown) =>
    providerWords(typeof body === 'string' ? body : JSON.stringify(body), NO_SECRETS);

  it('reads each form of an error, and plain text', () => {
    expect(words([{ error: { message: 'in a list' } }])).toBe('in a list');
    expect(words({ detail: 'of FastAPI' })).toBe('of FastAPI');
    expect(words('404 page not found\n')).toBe('404 page not found');
    expect(words('"text"')).toBe('text');
  });

  it.each(['', ' ', '<html>an error</html>', '{"cut', '{}', '[]', 'null', '{"error":{"message":7}}'])(
    'finds none in %j',
    (body) => {
      expect(words(body)).toBeUndefined();
    },
  );

  it('is one line of at most 300 characters', () => {
    const line = words({ error: { message: `\u001b[31mred\u202e\r\n\0 ${'long '.repeat(100_000)}` } });
    expect(line).toMatch(/^\[31mred long/);
    expect(line).toHaveLength(300);
    expect(line).toMatch(/…$/);
  });
});

describe('cleanLine', () => {
  const endpoint = {
    ...({ provider: 'openai-compatible', model: 'm', apiKey: KEY, fetch: globalThis.fetch } as const),
    baseUrl: 'https://user:pass%20word@gateway.example/v1',
    options: { headers: { 'x-gateway': 'Token gateway-token' } },
  };

  it.each([
    ['the key', `a ${KEY} b`, 'a [key] b'],
    ['a part of the key', `a ${KEY.slice(4, 18)} b`, 'a [key] b'],
    ['the key in base64', `a ${Buffer.from(KEY).toString('base64')} b`, 'a [key] b'],
    ['a header', 'a gateway-token b', 'a [key] b'],
    ['a password of the address', 'a pass word b', 'a [key] b'],
    ['another key', 'a sk-proj-abc_DEF b, AIzaSyA1234567890', 'a [key] b, [key]'],
    ['a key that is masked in part', 'a abc*****6789. b', 'a [key] b'],
    ['a bearer token', 'Bearer abc123def456 b', '[key] b'],
    ['a token of the web', 'a eyJhbGciOi.eyJzdWIiOi.sig-1 b', 'a [key] b'],
    [
      'credentials in a URL',
      'see https://me:mine@x.example/?key=abc&b=c',
      'see https://[key]@x.example/?key=[key]&b=[key]',
    ],
    ['an address of a wallet', `to 0x${'ab'.repeat(20)} b`, 'to [key] b'],
  ])('masks %s', (_what, text, expected) => {
    expect(cleanLine(text, secretsOf(endpoint))).toBe(expected);
  });

  it('leaves other words alone', () => {
    const text = 'Missing bearer authentication in header; the task-model risk-7 needs https://x.example/v1';
    expect(cleanLine(text, secretsOf(endpoint))).toBe(text);
  });

  it('reads hostile text in linear time', () => {
    const hostile = ['a'.repeat(4_000), '***'.repeat(1_300), '?a='.repeat(1_300), 'Bearer 1 '.repeat(400)];
    const before = performance.now();
    for (const text of hostile) for (let n = 0; n < 20; n++) cleanLine(text, secretsOf(endpoint));
    expect(performance.now() - before).toBeLessThan(4_000);
  });
});

it('an error body that would take long to parse is not parsed', () => {
  const parse = jest.spyOn(JSON, 'parse');
  const bodies = ['['.repeat(1_000_000), `[${'{},'.repeat(300_000)}0]`];
  const faults = bodies.map((body) => faultOfAnswer({ status: 400, headers: {}, body }, NO_SECRETS));
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
  expect(faults.map(({ fault, words }) => [fault, words])).toEqual(Array(2).fill(['refused', undefined]));
});
