import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tool } from '../../src/core/ports/tool.js';
import { testApp } from '../support/core.js';
import { eventsOf, objectOf, openHouse, type House } from '../support/house.js';
import { grantKey } from '../support/keys.js';
import { climb, getTime, stumble } from '../support/tools.js';

const CLIENT = 'client-of-16-char';
const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const HEX = `0x${'ab'.repeat(32)}`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const receipt: Tool = {
  ...getTime,
  name: 'receipt',
  parameters: {
    type: 'object',
    properties: { hash: { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }, n: { type: 'integer' } },
    required: ['hash'],
    additionalProperties: false,
  },
  run: ({ hash }) => Promise.resolve(`found ${typeof hash}`),
};

/** Shows what a call may know. */
const context: Tool = {
  ...getTime,
  name: 'context',
  run: (_, { sessionId, wallet, secrets }) =>
    Promise.resolve({ sessionId, wallet, names: [...secrets.keys()] }),
};

const slot = { name: 'API_KEY', description: 'Vendor key', required: true };
let house: House;
let session: string;
let key: string;

beforeEach(async () => {
  house = await openHouse({
    apps: [
      testApp(),
      testApp({ name: 'paid', tools: ['context'], secrets: [slot] }),
      testApp({ name: 'bare', tools: [] }),
    ],
    tools: [getTime, climb, stumble, receipt, context],
  });
  session = randomUUID();
  key = await grantKey(house.store, ['paid', 'bare']);
});
afterEach(() => house.close());

function call(body: unknown, headers: Record<string, string> = {}) {
  return house.ask('POST', '/api/tools', { session, headers, body });
}

describe('GET /api/tools', () => {
  it('lists the tools of the App with their schemas, without a session', async () => {
    const { status, json } = await house.ask('GET', '/api/tools');
    expect(status).toBe(200);
    const { description, parameters } = receipt;
    expect(json).toEqual({
      tools: [getTime, climb, stumble, receipt, context].map((tool) => ({
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters,
      })),
    });
    expect(json).toMatchObject({
      tools: expect.arrayContaining([{ name: 'receipt', description, parameters }]),
    });
    expect(await house.ask('GET', '/current/api/tools?app=default')).toMatchObject({ status: 200, json });
  });

  it('lists those of an App for its key', async () => {
    const headers = { 'SERVICE-APP-KEY': key };
    const paid = await house.ask('GET', '/api/tools?app=paid', { headers });
    expect(paid.json).toEqual({ tools: [expect.objectContaining({ name: 'context' })] });
    expect((await house.ask('GET', '/api/tools?app=bare', { headers })).json).toEqual({ tools: [] });
    expect((await house.ask('GET', '/api/tools?app=paid')).status).toBe(401);
    // Like any request with its header, it brings a session into being.
    const session = randomUUID();
    await house.ask('GET', '/api/tools', { session });
    expect((await house.ask('GET', `/api/sessions/${session}`)).status).toBe(200);
  });
});

describe('POST /api/tools', () => {
  it('runs a tool and answers with its id, name and result', async () => {
    const { status, json } = await call({ name: 'get_time', args: { zone: 'UTC' } });
    expect([status, json]).toEqual([
      200,
      { call_id: expect.stringMatching(UUID), name: 'get_time', result: { time: '12:00', zone: 'UTC' } },
    ]);
    for (const body of [
      { name: 'get_time' },
      { name: 'get_time', args: null },
      { name: 'get_time', args: '{}' },
    ]) {
      expect((await call(body)).json).toMatchObject({ result: { time: '12:00', zone: null } });
    }
  });

  it("answers a tool's own failure with 200 and its words", async () => {
    const { status, json } = await call({ name: 'stumble' });
    expect([status, json]).toEqual([
      200,
      { call_id: expect.stringMatching(UUID), name: 'stumble', error: 'the ground was uneven' },
    ]);
  });

  it.each(['nope', '__proto__', 'constructor', 'GET_TIME', 'x'.repeat(5000)])(
    'answers 404 for the unknown tool %p',
    async (name) => {
      const { status, json, text } = await call({ name });
      expect([status, json]).toEqual([
        404,
        {
          error: expect.stringContaining('no tool named'),
          code: 'not_found',
          request_id: expect.any(String),
        },
      ]);
      expect(text.length).toBeLessThan(400);
    },
  );

  it('answers 400 with the paths of arguments that do not fit', async () => {
    const { status, json } = await call({ name: 'receipt', args: { hash: 'x', n: 1.5, more: 1 } });
    expect([status, json]).toMatchObject([400, { code: 'invalid' }]);
    const paths = [...JSON.stringify(json).matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path);
    expect(paths).toEqual(expect.arrayContaining(['args.hash', 'args.n']));
    expect((await call({ name: 'receipt' })).json).toMatchObject({
      code: 'invalid',
      details: [{ path: 'args.hash' }],
    });
  });

  it.each<readonly [string, unknown]>([
    ['no JSON', '{"name"'],
    ['a list', ['get_time']],
    ['nothing', ''],
    ['no name', { args: {} }],
    ['a name that is no text', { name: 5 }],
    ['args that are a list', { name: 'get_time', args: [] }],
    ['args that are text', { name: 'get_time', args: 'x' }],
    ['an App that is no text', { name: 'get_time', app: 5 }],
  ])('answers 400 for %s', async (_name, body) => {
    const { status, json } = await call(body);
    expect([status, json]).toMatchObject([400, { error: expect.any(String), code: 'invalid' }]);
  });

  it('needs a session', async () => {
    const body = { name: 'get_time' };
    expect((await house.ask('POST', '/api/tools', { body })).status).toBe(400);
    expect((await house.ask('POST', '/api/tools', { body, session: 'x' })).status).toBe(400);
  });

  it('takes 16 KiB and no more, and stays up', async () => {
    const sized = (bytes: number) => {
      const body = JSON.stringify({ name: 'get_time', args: { zone: '' } });
      return body.replace('""', `"${'z'.repeat(bytes - body.length)}"`);
    };
    expect((await call(sized(16_384))).status).toBe(200);
    const { status, json } = await call(sized(16_385));
    expect([status, json]).toEqual([
      413,
      { error: expect.stringContaining('16 KiB'), code: 'payload_too_large', request_id: expect.any(String) },
    ]);
    expect((await call({ name: 'get_time' })).status).toBe(200);
  });

  const exposures: readonly (readonly [string, object, string, RegExp])[] = [
    ['a PEM key', { zone: '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIK' }, 'args.zone', /MHcCAQEEIK|BEGIN/],
    ['a seed phrase', { zone: `mine: ${PHRASE}` }, 'args.zone', /legal winner/],
    ['a seed phrase word by word', { zone: PHRASE.split(' ') }, 'args.zone', /sausage/],
    ['an argument named as a key', { a: { private_key: 'pk-canary-1' } }, 'args.a.private_key', /pk-canary/],
    ['an argument named as a seed', { mnemonic: 'mn-canary-1' }, 'args.mnemonic', /mn-canary/],
    ['bare hex', { zone: HEX }, 'args.zone', /abab/],
  ];
  it.each(exposures)(
    'refuses %s with 400, runs nothing, and logs nothing of it',
    async (_name, args, path, hidden) => {
      const { status, json, text } = await call({ name: 'get_time', args });
      expect([status, json]).toMatchObject([400, { code: 'invalid', details: [{ path }] }]);
      expect(text).not.toMatch(hidden);
      expect(house.log()).toContain('"route":"/api/tools"');
      expect(house.log()).not.toMatch(hidden);
      expect(await house.store.loadThread(session)).toBe('unknown');
    },
  );

  it('takes 32 bytes of hex where the schema asks for them', async () => {
    const { status, json } = await call({ name: 'receipt', args: { hash: HEX } });
    expect([status, json]).toMatchObject([200, { result: 'found string' }]);
    expect(house.log()).not.toContain('abab');
  });

  it('runs the tools of an App for its key, once its slot is filled, named in the refusal until then', async () => {
    const headers = { 'SERVICE-APP-KEY': key };
    const body = { name: 'context', app: 'paid', client_id: CLIENT };
    expect((await call(body)).status).toBe(401);
    expect((await call({ ...body, name: 'get_time' }, headers)).status).toBe(404);
    const empty = await call(body, headers);
    expect([empty.status, empty.json]).toMatchObject([
      400,
      {
        error: expect.stringContaining('API_KEY'),
        details: [{ path: 'secrets.API_KEY', message: 'Vendor key' }],
      },
    ]);
    await house.ask('POST', '/api/secrets', {
      headers,
      body: { client_id: CLIENT, app: 'paid', secrets: { API_KEY: 'v' } },
    });
    expect((await call(body, headers)).json).toMatchObject({
      result: { sessionId: session, wallet: null, names: ['API_KEY'] },
    });
    // In the query too, as everywhere; without a client nothing is lent.
    const byQuery = await house.ask('POST', `/api/tools?app=paid&client_id=${CLIENT}`, {
      ...{ session, headers },
      body: { name: 'context' },
    });
    expect(byQuery.status).toBe(200);
    expect((await call({ name: 'context', app: 'paid' }, headers)).status).toBe(400);
  });

  it('makes the session, and gives the tool its bound wallet', async () => {
    await call({ name: 'get_time' });
    expect((await house.ask('GET', `/api/sessions/${session}`)).status).toBe(200);
    await house.ask('POST', '/api/sessions', { session, body: { public_key: 'So1anaAddress' } });
    expect((await call({ name: 'context' })).json).toMatchObject({ result: { wallet: 'So1anaAddress' } });
  });

  it('announces each call on the updates of both surfaces, as running and then as complete', async () => {
    const current = await house.watch('/api/updates', session);
    const legacy = await house.watch('/api/thread/updates', session);
    const short = await call({ name: 'get_time' });
    const long = await call({ name: 'climb' });
    const failed = await call({ name: 'stumble' });
    const ended = (stream: typeof current) =>
      eventsOf(stream).filter(({ type }) => type === 'tool_complete').length === 3;
    await current.until(ended);
    await legacy.until(ended);
    const told = (answer: typeof short, type: string, more: object) => {
      const { call_id: id, name } = objectOf(answer.json);
      return { type, session_id: session, id, call_id: id, tool_name: name, name, ...more };
    };
    const running = { status: 'running' };
    expect(eventsOf(current)).toEqual([
      told(short, 'tool_update', running),
      told(short, 'tool_complete', { status: 'complete', result: '{"time":"12:00","zone":null}' }),
      told(long, 'tool_update', running),
      told(long, 'tool_update', { ...running, message: 'half way' }),
      told(long, 'tool_complete', { status: 'complete', result: 'on top' }),
      told(failed, 'tool_update', running),
      told(failed, 'tool_complete', { status: 'failed', result: 'the ground was uneven' }),
    ]);
    expect(eventsOf(legacy)).toEqual(eventsOf(current));
    current.close();
    legacy.close();
  });

  it('stops the tool when its client disconnects, notifies watchers, and does not count it as a fault of the service', async () => {
    let stopped: (() => void) | undefined;
    const wasStopped = new Promise<void>((resolve) => (stopped = resolve));
    const hang: Tool = {
      ...getTime,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped?.();
            reject(new Error('stopped'));
          });
        }),
    };
    const other = await openHouse({ tools: [hang] });
    try {
      const updates = await other.watch('/api/updates', session);
      const gone = new AbortController();
      const asked = fetch(`${other.url}/api/tools`, {
        method: 'POST',
        headers: { 'X-Session-Id': session },
        body: JSON.stringify({ name: 'get_time' }),
        signal: gone.signal,
      });
      const cut = expect(asked).rejects.toThrow();
      await updates.until(({ events }) => events.length === 1);
      gone.abort();
      await cut;
      await wasStopped;
      await updates.until(({ events }) => events.length === 2);
      expect(eventsOf(updates)[1]).toMatchObject({
        type: 'tool_complete',
        status: 'failed',
        result: 'interrupted',
      });
      updates.close();
      expect(other.log()).not.toContain('"level":"error"');
    } finally {
      await other.close();
    }
  });

  it('has its own errors under its own base, and is not there on the legacy one', async () => {
    const body = { name: 'get_time' };
    expect((await house.ask('POST', '/current/api/tools', { session, body })).status).toBe(200);
    const legacy = await house.ask('POST', '/legacy/api/tools', { session, body });
    expect([legacy.status, legacy.json]).toEqual([404, { error: expect.any(String) }]);
    expect((await house.ask('PATCH', '/api/tools', { session })).headers.get('allow')).toBe(
      'POST, GET, HEAD, OPTIONS',
    );
  });
});
