import { afterEach, beforeEach, describe, expect, it, test } from '@jest/globals';
import { RigError } from '../../src/core/ports/rig.js';
import { checkEndpoint } from '../../src/adapters/models/check-endpoint.js';
import { createFetch } from '../../src/adapters/models/http/fetch.js';
import { BASE_URLS } from '../../src/adapters/models/endpoint.js';
import { wireCallIds, wireToolNames } from '../../src/adapters/models/wire-names.js';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import { usualModels } from '../../src/adapters/models/usual-models.js';
import { startUpstream, type Upstream } from '../support/upstream.js';
import { dialects, failure, KEY, rigAt } from './ai-sdk-dialects.js';

const never = new AbortController().signal;

describe.each(dialects)('checking a $provider rig', (dialect) => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const fail = async (): Promise<RigError> => {
    const error = await failure(rigAt(upstream.url, dialect).check(never));
    if (!(error instanceof RigError)) throw new Error('not a RigError', { cause: error });
    expect(error.message).not.toContain(KEY);
    expect(error.message).toContain('under-test');
    return error;
  };

  it('asks for the list of models with the key', async () => {
    upstream.next((reply) => {
      reply.json(200, { data: [{ id: 'another' }], models: [{ name: 'models/another' }] });
    });
    const warning = await rigAt(upstream.url, dialect).check(never);
    // The list of a proxy may lack models that it passes on.
    expect(warning).toBe(`lists no model of the name ${dialect.model}; there are another`);
    const [request] = upstream.requests;
    expect(request?.method).toBe('GET');
    expect(request?.path.split('?')[0]).toBe(`${dialect.basePath}/models`);
    expect(request?.headers[dialect.auth[0]]).toBe(dialect.auth[1]);
  });

  it.each([
    [401, /API key.*HTTP 401/],
    [404, /model and baseUrl.*HTTP 404/],
    [500, /internal problem.*HTTP 500/],
  ])('says what a status %i means for the operator', async (status, words) => {
    upstream.next((reply) => {
      reply.json(status, { error: { message: KEY } });
    });
    expect((await fail()).message).toMatch(words);
  });

  it('says that something else answers', async () => {
    upstream.next((reply) => {
      reply.open({ 'content-type': 'text/html' });
      reply.raw('<html></html>');
    });
    expect((await fail()).message).toMatch(/not a model API/);
  });

  it('says that nobody answers, and why', async () => {
    await upstream.close();
    const error = await fail();
    upstream = await startUpstream();
    expect(error.message).toMatch(/cannot be reached.*ECONNREFUSED/);
  });

  it('can be aborted', async () => {
    upstream.next((reply) => reply.hang());
    const abort = new AbortController();
    const checking = failure(rigAt(upstream.url, dialect).check(abort.signal));
    await upstream.request(0);
    abort.abort('enough');
    expect(await checking).toBe('enough');
  });

  it("looks for the model in the provider's own list", async () => {
    const { provider, model } = dialect;
    if (provider === 'openai-compatible') return;
    const fetch = createFetch();
    const baseUrl = BASE_URLS[provider];
    const endpoint = (name: string) => ({
      provider,
      model: name,
      baseUrl,
      apiKey: KEY,
      options: {},
      fetch: (input: string | URL | Request, init?: RequestInit) => {
        if (typeof input !== 'string') throw new Error('a URL as text is expected');
        return fetch(input.replace(baseUrl, upstream.url), init);
      },
    });
    const id = `${model}-20250101`;
    upstream.always((reply) => {
      reply.json(200, provider === 'google' ? { models: [{ name: `models/${id}` }] } : { data: [{ id }] });
    });
    await checkEndpoint('r', endpoint(id), never);
    await checkEndpoint('r', endpoint(model), never);
    await expect(checkEndpoint('r', endpoint('no-such-model'), never)).rejects.toThrow(
      `no model of the name no-such-model; there are ${id}`,
    );
  });
});

test('an openai-compatible rig needs a base URL', () => {
  const settings = { id: 'local', name: 'L', model: 'm', apiKey: null, contextTokens: 1 };
  expect(() => createModelRig({ ...settings, provider: 'openai-compatible', baseUrl: null })).toThrow(
    /baseUrl/,
  );
  expect(createModelRig({ ...settings, provider: 'google', baseUrl: null }).id).toBe('local');
});

test('tool names fit the wire and come back', () => {
  const long = 'x'.repeat(80);
  const names = ['a.b', 'a_b', 'a b', `${long}1`, `${long}2`, '1st', 'größe', ''];
  const wire = wireToolNames(names);
  const wired = names.map((name) => wire.toWire(name));
  expect(wired[1]).toBe('a_b');
  expect(new Set(wired).size).toBe(names.length);
  for (const name of wired) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  expect(wired.map((name) => wire.fromWire(name))).toEqual(names);
  expect(wire.fromWire('made_up')).toBe('made_up');
});

test('no tool of a server has the name of the verdicts on the wire', () => {
  for (const names of [['wallet.report'], ['wallet.report', 'wallet_report']]) {
    const wire = wireToolNames(names);
    expect(wire.toWire('wallet.report')).toBe('wallet_report_2');
    expect(wire.fromWire('wallet_report_2')).toBe('wallet.report');
    expect(wire.toWire('wallet_report')).toBe('wallet_report');
  }
});

test('call ids fit every provider', () => {
  const ids = ['call_1', '', 'a:b/c', 'x'.repeat(90)];
  const wire = wireCallIds(ids);
  for (const id of ids) expect(wire.toWire(id)).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  expect(wire.toWire('call_1')).toBe('call_1');
});

test('the usual models have ids that nobody shares', () => {
  const models = Object.values(usualModels).flat();
  expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  for (const { contextTokens } of models) expect(contextTokens).toBeGreaterThanOrEqual(128_000);
});
