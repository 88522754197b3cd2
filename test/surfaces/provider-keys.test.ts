import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Store } from '../../src/core/ports/store.js';
import { dialects, KEY, rigAt, type Dialect } from '../adapters/ai-sdk-dialects.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { openStore } from '../support/http.js';
import {
  endChunk,
  startUpstream,
  textChunk,
  type Upstream,
  type UpstreamRequest,
} from '../support/upstream.js';

const A = 'client-a-of-some-length';
const B = 'client-b-of-some-length';
const OWN = 'sk-own-0123456789abcdefghij';
const PATH = '/api/control/provider-keys';

let upstream: Upstream;
let store: Store;
let house: House;
const sealing = [randomBytes(32)];

beforeEach(async () => {
  upstream = await startUpstream();
  upstream.always((reply, { path }) => {
    const dialect = dialectOf(path);
    dialect.say(reply, 'Hello');
    dialect.finish(reply);
  });
  store = await openStore('sqlite');
  house = await open();
});
afterEach(async () => {
  await house.close();
  await store.close();
  await upstream.close();
});

function open(): Promise<House> {
  const rigs = dialects.map((dialect) => rigAt(upstream.url, dialect, { id: dialect.provider }));
  return openHouse({ rigs, store, keys: sealing });
}

function dialectOf(path: string): Dialect {
  const marks = { openai: '/responses', anthropic: '/messages', google: '/models/' };
  const provider = Object.entries(marks).find(([, mark]) => path.includes(mark))?.[0] ?? 'openai-compatible';
  const found = dialects.find((dialect) => dialect.provider === provider);
  if (found === undefined) throw new Error('the upstream was asked for an unknown path');
  return found;
}

/** The key that a request to the provider carried. */
function keyOf({ path, headers }: UpstreamRequest): string {
  const [header, value] = dialectOf(path).auth;
  const others = ['authorization', 'x-api-key', 'x-goog-api-key'].filter((name) => name !== header);
  expect(others.filter((name) => headers[name] !== undefined)).toEqual([]);
  return String(headers[header]).slice(value.length - KEY.length);
}

function keep(body: object, session?: string) {
  return house.ask('POST', PATH, { body, ...(session !== undefined && { session }) });
}

/** Sends a message on a rig, and waits for its reply and for the request of its title. */
async function talk(rig: string, options: { client?: string; session?: string } = {}) {
  const { client, session = randomUUID() } = options;
  const before = upstream.requests.length;
  await house.ask('POST', `/api/control/model?rig=${rig}`, { session });
  const query = client === undefined ? '' : `&client_id=${client}`;
  const headers = { Prefer: 'wait=60' };
  const { json } = await house.ask('POST', `/api/chat?message=hi${query}`, { session, headers });
  return { snapshot: objectOf(json), before, session };
}

/** The keys of the two requests of a turn in a new session: of its answer and its title. */
async function keysOf(rig: string, client?: string): Promise<readonly string[]> {
  const { before } = await talk(rig, client === undefined ? {} : { client });
  const title = await upstream.request(before + 1);
  await title.closed;
  return upstream.requests.slice(before).map(keyOf);
}

describe('the turns of a client', () => {
  it.each(dialects.map(({ provider }) => provider))(
    'use its own key for %s, and those of nobody else do, until it is deleted',
    async (provider) => {
      const stored = await keep({ client_id: A, provider, api_key: OWN, label: 'mine' });
      const shown = { provider, key_prefix: 'sk-own-', label: 'mine', is_active: true };
      expect([stored.status, stored.json]).toEqual([200, { key: shown }]);
      expect(await keysOf(provider, A)).toEqual([OWN, OWN]);
      expect(await keysOf(provider, B)).toEqual([KEY, KEY]);
      expect(await keysOf(provider)).toEqual([KEY, KEY]);
      const other = provider === 'google' ? 'openai' : 'google';
      expect(await keysOf(other, A)).toEqual([KEY, KEY]);
      await house.close();
      house = await open();
      expect(await keysOf(provider, A)).toEqual([OWN, OWN]);
      const deleted = await house.ask('DELETE', `${PATH}/${provider}?client_id=${A}`);
      expect([deleted.status, deleted.json]).toEqual([200, { deleted: true }]);
      expect(await keysOf(provider, A)).toEqual([KEY, KEY]);
    },
  );

  it('use it in the sessions that are bound to the client, on both surfaces', async () => {
    const [bound, free, legacy] = [randomUUID(), randomUUID(), randomUUID()];
    await keep({ client_id: A, provider: 'openai', api_key: OWN }, bound);
    for (const session of [bound, free]) {
      const { before } = await talk('openai', { session });
      const title = await upstream.request(before + 1);
      await title.closed;
    }
    expect(upstream.requests.map(keyOf)).toEqual([OWN, OWN, KEY, KEY]);
    await house.ask('POST', '/api/control/model?rig=openai', { session: legacy });
    const chat = await house.watch(`/api/thread/chat?client_id=${A}`, legacy, {
      ...{ method: 'POST', body: JSON.stringify({ text: 'hi' }) },
    });
    expect(await chat.end()).toContain('"type":"complete"');
    const answered = await upstream.request(4);
    expect(keyOf(answered)).toBe(OWN);
  });

  it('fail with words when the provider refuses the key, and never use the configured one', async () => {
    await keep({ client_id: A, provider: 'openai', api_key: OWN });
    upstream.next((reply) => {
      reply.json(401, { error: { message: `Incorrect API key provided: ${OWN}`, code: 'invalid_api_key' } });
    });
    const { snapshot, session } = await talk('openai', { client: A });
    const words =
      "Your key for openai was refused. Store another one, or delete it to use the service's own.";
    expect(snapshot).toMatchObject({ is_processing: false, system_events: [{ SystemError: words }] });
    const { text } = await house.ask('GET', `/api/sessions/${session}/messages`);
    expect(text).toContain(words);
    expect(upstream.requests.map(keyOf)).toEqual([OWN]);
    expect([house.log(), ...house.answers].join('\n')).not.toContain(OWN);
  });

  it('say whose account is empty', async () => {
    await keep({ client_id: A, provider: 'openai', api_key: OWN });
    upstream.next((reply) => {
      reply.json(429, { error: { message: 'You exceeded your quota', code: 'insufficient_quota' } });
    });
    const { snapshot } = await talk('openai', { client: A });
    expect(JSON.stringify(snapshot.system_events)).toContain(
      'Your account for the key for openai has no credit',
    );
    expect(upstream.requests).toHaveLength(1);
  });

  it('retry with the same key', async () => {
    await keep({ client_id: A, provider: 'openai-compatible', api_key: OWN });
    upstream.next((reply) => {
      reply.json(503, { error: { message: 'overloaded' } }, { 'retry-after': '0' });
    });
    await talk('openai-compatible', { client: A });
    expect(upstream.requests.slice(0, 2).map(keyOf)).toEqual([OWN, OWN]);
  });

  it('do not follow a redirect with it', async () => {
    await keep({ client_id: A, provider: 'openai-compatible', api_key: OWN });
    upstream.next((reply) => {
      reply.json(307, {}, { location: `${upstream.url}/elsewhere/chat/completions` });
    });
    await talk('openai-compatible', { client: A });
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
  });

  it('do not show it when the provider says it', async () => {
    await keep({ client_id: A, provider: 'openai-compatible', api_key: OWN });
    upstream.next((reply) => {
      reply.open();
      for (const piece of ['Invalid key ', OWN.slice(0, 9), `${OWN.slice(9)}.`])
        reply.event(textChunk(piece));
      reply.event(endChunk());
      reply.event('[DONE]');
    });
    const { snapshot } = await talk('openai-compatible', { client: A });
    expect(JSON.stringify(snapshot.messages)).toContain('Invalid key $PROVIDER_KEY.');
  });
});

describe('/api/control/provider-keys', () => {
  const key = (provider: string, label: string | null) => ({
    ...{ provider, key_prefix: 'sk-own-', label, is_active: true },
  });

  it('lists, replaces and deletes the keys of the client, and lists those of the client of a session', async () => {
    const session = randomUUID();
    expect((await keep({ provider: 'openai', byok_key: OWN, client_id: A }, session)).status).toBe(200);
    expect((await keep({ provider: 'google', api_key: OWN, label: 'g', client_id: A }, session)).status).toBe(
      200,
    );
    await house.ask('POST', `${PATH}?client_id=${A}`, { body: { provider: 'openai', api_key: `${OWN}2` } });
    const keys = [key('google', 'g'), key('openai', null)];
    for (const answer of [
      await house.ask('GET', `${PATH}?client_id=${A}`),
      await house.ask('GET', PATH, { session }),
      await house.ask('GET', `/current${PATH}`, { session }),
    ])
      expect([answer.status, answer.json]).toEqual([200, { provider_keys: keys, byok_keys: keys }]);
    expect((await house.ask('GET', `${PATH}?client_id=${B}`, { session })).json).toEqual({
      provider_keys: [],
      byok_keys: [],
    });
    // Secrets are another matter.
    expect((await house.ask('GET', `/api/secrets?client_id=${A}`)).json).toEqual({ by_app: {} });
    for (const query of ['', '&app=%40provider-keys'])
      await house.ask('DELETE', `/api/secrets?client_id=${A}${query}`);
    const remove = (provider: string) => house.ask('DELETE', `${PATH}/${provider}?client_id=${A}`);
    expect((await remove('google')).json).toEqual({ deleted: true });
    expect((await remove('google')).json).toEqual({ deleted: false });
    expect((await remove('nothing')).json).toEqual({ deleted: false });
    expect((await house.ask('GET', PATH, { session })).json).toMatchObject({
      byok_keys: [key('openai', null)],
    });
  });

  it.each<readonly [string, object, string]>([
    ['no provider', { client_id: A, api_key: OWN }, 'provider'],
    ['an unknown provider', { client_id: A, provider: 'nobody', api_key: OWN }, 'provider'],
    ['no key', { client_id: A, provider: 'openai' }, 'api_key'],
    ['two keys', { client_id: A, provider: 'openai', api_key: OWN, byok_key: `${OWN}2` }, 'api_key'],
    ['a key that is no text', { client_id: A, provider: 'openai', api_key: [OWN] }, 'api_key'],
    ['a short key', { client_id: A, provider: 'openai', api_key: OWN.slice(0, 7) }, 'api_key'],
    ['a key with a line break', { client_id: A, provider: 'openai', api_key: `${OWN}\n${OWN}` }, 'api_key'],
    [
      'a label that is too long',
      { client_id: A, provider: 'openai', api_key: OWN, label: 'l'.repeat(101) },
      'label',
    ],
    ['a short client id', { client_id: 'short', provider: 'openai', api_key: OWN }, 'client_id'],
    ['no client', { provider: 'openai', api_key: OWN }, 'client_id'],
  ])('refuses %s, and stores nothing', async (_name, body, path) => {
    const { status, json, text } = await keep(body);
    expect([status, json]).toMatchObject([400, { code: 'invalid', details: [{ path }] }]);
    expect(text).not.toContain(OWN.slice(0, 7));
    if (path === 'provider' && 'provider' in body)
      expect(text).toContain('openai, anthropic, google, openai-compatible');
    expect(await store.secretTotals()).toEqual([]);
  });

  it('reads the key from the body alone, since URLs are logged', async () => {
    const query = `client_id=${A}&provider=openai&api_key=${OWN}`;
    const refused = await house.ask('POST', `${PATH}?${query}`, { body: {} });
    expect([refused.status, refused.json]).toMatchObject([400, { details: [{ path: 'provider' }] }]);
    expect(house.log()).not.toContain(OWN);
  });

  it('refuses a request that names no client, and a session that is bound to none', async () => {
    const session = randomUUID();
    for (const options of [{}, { session }]) {
      for (const [method, path] of [
        ['GET', PATH],
        ['DELETE', `${PATH}/openai`],
      ] as const) {
        const refused = await house.ask(method, path, options);
        expect([refused.status, refused.json]).toMatchObject([400, { details: [{ path: 'client_id' }] }]);
      }
      const refused = await keep({ provider: 'openai', api_key: OWN }, options.session);
      expect(refused.status).toBe(400);
    }
    // An id that others can guess binds nothing: the session would share with them what it stores.
    await house.ask('GET', '/api/secrets?client_id=guessable', { session });
    expect((await house.ask('GET', PATH, { session })).status).toBe(400);
  });

  it('lets nobody with only a session id replace or delete the keys of its client', async () => {
    const session = randomUUID();
    expect((await keep({ provider: 'openai', api_key: OWN, client_id: A }, session)).status).toBe(200);
    for (const refused of [
      await keep({ provider: 'openai', api_key: `${OWN}2` }, session),
      await house.ask('DELETE', `${PATH}/openai`, { session }),
    ])
      expect([refused.status, refused.json]).toMatchObject([400, { details: [{ path: 'client_id' }] }]);
    expect((await house.ask('GET', PATH, { session })).json).toMatchObject({
      provider_keys: [{ provider: 'openai' }],
    });
  });

  it('is found before the actions of the legacy surface, which has no such path', async () => {
    expect((await keep({ client_id: A, provider: 'openai', api_key: OWN })).status).toBe(200);
    const body = { client_id: A, provider: 'openai', api_key: OWN };
    expect((await house.ask('POST', `/legacy${PATH}`, { body })).status).toBe(404);
    const other = await house.ask('PATCH', PATH);
    expect([other.status, other.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
  });
});
