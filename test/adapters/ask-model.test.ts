import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RigSettings } from '../../src/adapters/models/create-rig.js';
import { endChunk, startUpstream, textChunk, type Upstream } from '../support/upstream.js';
import { dialects, failure, KEY, rigAt } from './ai-sdk-dialects.js';

const never = new AbortController().signal;

let upstream: Upstream;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(() => upstream.close());

describe.each(dialects)('asking a model of $provider', (dialect) => {
  const check = (changes: Partial<RigSettings> = {}, signal = never) =>
    rigAt(upstream.url, dialect, changes).check(signal, { ask: true });

  it('sends one request with a tool, and closes it at the first text', async () => {
    upstream.next(async (reply) => {
      dialect.say(reply, 'OK');
      await reply.hang();
    });
    await check();
    const [request] = upstream.requests;
    expect(upstream.requests).toHaveLength(1);
    expect(request?.method).toBe('POST');
    expect(JSON.stringify(request?.body)).toContain('get_time');
    expect(await request?.closed).toBe('aborted');
  });

  it('sends no tool to a model that takes none', async () => {
    upstream.next((reply) => {
      dialect.say(reply, 'OK');
      dialect.finish(reply);
    });
    await check({ tools: false });
    expect(JSON.stringify(upstream.requests[0]?.body)).not.toContain('get_time');
  });

  it('reports that a model does not support tools, and how to turn them off', async () => {
    upstream.next((reply) => {
      reply.json(400, { error: { message: 'gemma does not support tools', type: 'invalid_request_error' } });
    });
    await expect(check()).rejects.toThrow(/"under-test": this model takes no tools: set `tools: false`/);
    expect(upstream.requests).toHaveLength(1);
  });

  it('says which models there are when the provider does not know this one', async () => {
    const names = Array.from({ length: 14 }, (_, n) => `other-${String(n)}`);
    const all = [...names, `sk-${KEY}`, `${dialect.model.slice(0, -1)}\u001b[31m`];
    upstream.next((reply) => {
      reply.json(404, { error: { message: 'no such model', type: 'not_found_error' } });
    });
    upstream.next((reply) => {
      reply.json(200, {
        data: all.map((id) => ({ id })),
        models: all.map((name) => ({ name: `models/${name}` })),
      });
    });
    const error = await failure(check());
    const words = `no model of the name ${dialect.model}; there are ${dialect.model.slice(0, -1)} [31m, other-0, other-1`;
    expect(String(error)).toContain(words);
    expect(String(error)).toMatch(/ and 4 more \(HTTP 404, not_found_error: no such model\)$/);
    expect(String(error)).not.toContain(KEY);
  });

  it.each([
    ['there is no list', 404, {}],
    ['the list has the model', 200, { data: [{ id: dialect.model }], models: [{ name: dialect.model }] }],
  ])('says what to check when %s', async (_why, status, list) => {
    upstream.next((reply) => {
      reply.json(404, { error: { message: 'no such path' } });
    });
    upstream.next((reply) => {
      reply.json(status, list);
    });
    await expect(check()).rejects.toThrow(/Check model and baseUrl.*\(HTTP 404: no such path\)/);
  });

  it('fails with the reason of an abort', async () => {
    upstream.next((reply) => reply.hang());
    const abort = new AbortController();
    const checking = failure(check({}, abort.signal));
    const request = await upstream.request(0);
    abort.abort('enough');
    expect(await checking).toBe('enough');
    expect(await request.closed).toBe('aborted');
  });
});

describe('asking a model of an openai-compatible server', () => {
  const [dialect] = dialects;
  const rig = () => {
    if (dialect === undefined) throw new Error('openai-compatible');
    return rigAt(upstream.url, dialect);
  };

  it('counts a model that reasons until its limit as one that answers', async () => {
    upstream.next((reply) => {
      reply.open();
      reply.event(endChunk('length'));
    });
    await rig().check(never, { ask: true });
  });

  it('needs no list of models', async () => {
    upstream.next((reply) => {
      reply.open();
      reply.event(textChunk('OK'));
      reply.event(endChunk());
    });
    await rig().check(never, { ask: true });
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });
});
