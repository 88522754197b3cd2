import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import fc from 'fast-check';
import { NO_LIMITS } from '../../src/core/model/quota.js';
import { nameSession } from '../../src/surfaces/field/session-id.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { grantKey } from '../support/keys.js';
import { listOf, messagesOf } from '../support/snapshot.js';

const DEFAULT_ID = 'default-session';
const EMPTY = { messages: [], system_events: [], title: 'New Chat', is_processing: false, user_state: null };

let house: House;
beforeEach(async () => {
  house = await openHouse({
    apps: [testApp(), testApp({ name: 'desk' })],
    surfaces: ['current', 'legacy', 'field'],
  });
});
afterEach(() => house.close());

interface By {
  readonly clientId?: string;
  readonly key?: string;
}

/** Sends a request to the field surface under a session id. */
async function ask(method: string, path: string, session: string, { clientId, key }: By = {}, body?: object) {
  const url = new URL(`http://x/field${path}`);
  if (clientId !== undefined) url.searchParams.set('client_id', clientId);
  return house.ask(method, url.pathname + url.search, {
    session,
    ...(key !== undefined && { headers: { 'X-API-Key': key } }),
    ...(body !== undefined && { body }),
  });
}

/** Sends a message and lets the rig answer it. */
async function converse(session: string, message: string, by: By): Promise<void> {
  const sent = ask('POST', '/api/chat', session, by, { message });
  (await house.rig.next()).text(`about ${message}`).end();
  expect((await sent).status).toBe(200);
}

const contentsOf = (json: unknown) => messagesOf(json).map(({ content }) => content);

describe('a session header that is sent twice', () => {
  /** Returns the status and the body of a message or a state. */
  async function send(method: string, path: string, ids: string[]): Promise<[unknown, unknown]> {
    const sent = request(`${house.url}/field${path}`, { method, headers: { 'X-Session-Id': ids } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return [response.statusCode, await json(response)];
  }

  it('names one session if both ids are the same', async () => {
    const id = randomUUID();
    const sent = send('POST', '/api/chat?message=hello', [id, id.toUpperCase()]);
    (await house.rig.next()).text('hi').end();
    expect(contentsOf((await sent)[1])[0]).toBe('hello');
    expect(contentsOf((await ask('GET', '/api/state', id)).json)[0]).toBe('hello');
    expect(await send('GET', '/api/state', [DEFAULT_ID, DEFAULT_ID])).toEqual([200, EMPTY]);
  });

  it.each([
    [randomUUID(), randomUUID()],
    [DEFAULT_ID, randomUUID()],
    [DEFAULT_ID, 'another'],
    ['', ''],
  ])('is refused if the ids differ, or are blank: %s, %s', async (...ids) => {
    const [status, body] = await send('POST', '/api/chat?message=hello', ids);
    expect([status, body]).toMatchObject([400, { details: [{ path: 'X-Session-Id' }] }]);
  });

  it('leaves an id with a comma as it is', async () => {
    await converse('one, two', 'hello', { clientId: 'client-a' });
    const { json: state } = await ask('GET', '/api/state', 'one, two', { clientId: 'client-a' });
    expect(contentsOf(state)[0]).toBe('hello');
  });

  it('counts against the limits of its session', async () => {
    await house.close();
    const limits = { session: { ...NO_LIMITS, requestsPerMinute: 1 }, key: NO_LIMITS };
    house = await openHouse({
      surfaces: ['current', 'field'],
      settings: { limits },
    });
    const id = randomUUID();
    const statuses: unknown[] = [];
    // The minute may turn once.
    for (let n = 0; n < 3; n++) statuses.push((await send('GET', '/api/state', [id, id]))[0]);
    expect(statuses).toContain(429);
  });
});

describe('a session id that is no UUID', () => {
  it('names a session of its client', async () => {
    await converse(DEFAULT_ID, 'hello', { clientId: 'client-a' });
    const own = await ask('GET', '/api/state', DEFAULT_ID, { clientId: 'client-a' });
    expect(contentsOf(own.json)[0]).toBe('hello');
    const other = await ask('GET', '/api/state', DEFAULT_ID, { clientId: 'client-b' });
    expect(other.json).toEqual(EMPTY);
    const another = await ask('GET', '/api/state', 'default-sessioN', { clientId: 'client-a' });
    expect(another.json).toEqual(EMPTY);
  });

  it('names a session of its App key where there is no client', async () => {
    const [a, b] = [await grantKey(house.store, ['desk']), await grantKey(house.store, ['desk'])];
    await converse('bot 1', 'hello', { key: a });
    expect(contentsOf((await ask('GET', '/api/state', 'bot 1', { key: a })).json)[0]).toBe('hello');
    expect((await ask('GET', '/api/state', 'bot 1', { key: b })).json).toEqual(EMPTY);
    // The client goes before the key.
    expect((await ask('GET', '/api/state', 'bot 1', { key: a, clientId: 'c' })).json).toEqual(EMPTY);
  });

  it.each(['', 'x', 'sk-app-short', 'Bearer token'])(
    'names none by the key %j, which others can send as well',
    async (key) => {
      expect((await ask('POST', '/api/chat', DEFAULT_ID, { key }, { message: 'hello' })).json).toEqual(EMPTY);
      expect(house.rig.asked).toEqual([]);
    },
  );

  it('comes back as it was sent, in every response that shows it', async () => {
    const by = { clientId: 'client-a' };
    const id = 'Mein Bot #7';
    const created = await ask('POST', '/api/sessions', id, by);
    expect(created.json).toEqual({ session_id: id, title: 'New Chat' });
    await converse(id, 'hello', by);
    const path = `/api/sessions/${encodeURIComponent(id)}`;
    const answers = [
      await ask('GET', path, id, by),
      await ask('PATCH', path, id, by, { title: 'Named' }),
      await ask('POST', `${path}/archive`, id, by),
      await ask('POST', `${path}/unarchive`, id, by),
    ];
    for (const { status, json } of answers) expect([status, objectOf(json).session_id]).toEqual([200, id]);
    const { messages } = objectOf((await ask('GET', `${path}/messages`, id, by)).json);
    for (const record of listOf(messages).map(objectOf))
      expect([record.session_id, record.thread_id]).toEqual([id, id]);
    expect((await ask('DELETE', path, id, by)).json).toEqual({ session_id: id, deleted: true });
  });

  it('is 404 in a path without its client', async () => {
    await converse(DEFAULT_ID, 'hello', { clientId: 'client-a' });
    for (const [method, path, body] of [
      ['GET', `/api/sessions/${DEFAULT_ID}`, undefined],
      ['PATCH', `/api/sessions/${DEFAULT_ID}`, { title: 'Mine' }],
      ['DELETE', `/api/sessions/${DEFAULT_ID}`, undefined],
      ['POST', `/api/sessions/${DEFAULT_ID}/archive`, {}],
      ['GET', `/api/sessions/${DEFAULT_ID}/messages`, undefined],
    ] as const) {
      for (const by of [{}, { clientId: 'client-b' }])
        expect([method, (await ask(method, path, DEFAULT_ID, by, body)).status]).toEqual([method, 404]);
    }
  });

  it('is never listed: its wallet is the address of its user state', async () => {
    const wallet = '0xABCDEFabcdef00112233445566778899aabbccdd';
    const chat = ask(
      'POST',
      '/api/chat',
      DEFAULT_ID,
      { clientId: 'client-a' },
      { message: 'hi', public_key: wallet },
    );
    (await house.rig.next()).text('hello').end();
    const { user_state } = objectOf((await chat).json);
    expect(user_state).toEqual({ evm: { address: wallet.toLowerCase() } });
    const chosen = { public_key: wallet, user_state: { address: '0x1', chain_id: 1 } };
    await ask('POST', '/api/sessions', 'other', { clientId: 'client-a' }, { public_key: wallet });
    const next = ask('POST', '/api/chat', 'third', { clientId: 'client-a' }, { message: 'hi', ...chosen });
    (await house.rig.next()).text('hello').end();
    expect(objectOf((await next).json).user_state).toMatchObject({ address: '0x1', chain_id: 1 });
    for (const base of ['/field', '/current']) {
      const path = `${base}/api/sessions?public_key=${wallet}`;
      expect((await house.ask('GET', path, { session: randomUUID() })).json).toEqual([]);
    }
  });

  it('without a client and a key has an empty state and a silent stream, and stores nothing', async () => {
    const before = await contents();
    for (const [method, path, body] of [
      ['POST', '/api/sessions', { public_key: 'w' }],
      ['POST', '/api/chat', { message: 'hello', user_state: { evm: { address: '0x1' } } }],
      ['GET', '/api/state?user_state=%7B%22a%22%3A1%7D', undefined],
      ['POST', '/api/interrupt', {}],
      ['POST', '/api/system', { message: 'a note' }],
      ['GET', '/api/events', undefined],
      ['GET', '/api/control/apps', undefined],
      ['GET', '/api/control/models', undefined],
      ['GET', '/api/tools', undefined],
    ] as const) {
      const { status, json } = await ask(method, path, DEFAULT_ID, {}, body);
      expect([path, status]).toEqual([path, 200]);
      if (/chat|state|interrupt/.test(path)) expect(json).toEqual(EMPTY);
    }
    const stream = await house.watch('/field/api/updates', DEFAULT_ID);
    expect(stream.response.status).toBe(200);
    stream.close();
    for (const [path, body] of [
      ['/api/control/model', { rig: 'scripted' }],
      ['/api/tools', { name: 'none' }],
    ] as const) {
      const { status, json } = await ask('POST', path, DEFAULT_ID, {}, body);
      expect([path, status, json]).toMatchObject([path, 400, { details: [{ path: 'X-Session-Id' }] }]);
    }
    expect(await contents()).toEqual(before);
    expect(house.rig.asked).toEqual([]);
  });

  it.each([
    ['a line break', 'a\nb'],
    ['a control character', 'a\u0007'],
    ['129 characters', 'x'.repeat(129)],
    ['spaces alone', ' '],
    ['a lone surrogate', '\ud800'],
  ])('is refused with %s', async (_, id) => {
    const path = `/field/api/sessions/${id.isWellFormed() ? encodeURIComponent(id) : '%ED%A0%80'}?client_id=c`;
    expect((await house.ask('GET', path)).status).toBe(400);
  });

  it('is refused where it is missing, and taken with 128 characters', async () => {
    const { status, json } = await house.ask('GET', '/field/api/state');
    expect([status, json]).toMatchObject([400, { code: 'invalid', details: [{ path: 'X-Session-Id' }] }]);
    const malformed = await ask('GET', '/api/state', 'x'.repeat(129));
    const message = expect.stringMatching(/^X-Session-Id must be /);
    expect(malformed).toMatchObject({ status: 400, json: { details: [{ path: 'X-Session-Id', message }] } });
    expect((await ask('GET', '/api/state', 'x'.repeat(128), { clientId: 'c' })).status).toBe(200);
  });

  it('is refused by the strict surfaces', async () => {
    for (const base of ['', '/current'])
      expect((await house.ask('GET', `${base}/api/state`, { session: DEFAULT_ID })).status).toBe(400);
  });

  it('does not appear in the log', async () => {
    await converse('a-private-bot-id', 'hello', { clientId: 'client-a-of-the-log' });
    await ask('GET', '/api/sessions/a-private-bot-id', 'x', { clientId: 'client-a-of-the-log' });
    expect(house.log()).toContain('/field/api/chat');
    for (const word of ['a-private-bot-id', 'client-a-of-the-log']) expect(house.log()).not.toContain(word);
  });

  async function contents(): Promise<unknown> {
    return house.store.countSessions(0, 100);
  }
});

describe('a UUID', () => {
  it('names the same session on every surface, for every client, in any case', async () => {
    const session = randomUUID();
    const sent = ask(
      'POST',
      '/api/chat',
      session.toUpperCase(),
      { clientId: 'client-a' },
      { message: 'hello' },
    );
    (await house.rig.next()).text('hi').end();
    await sent;
    const { json } = await house.ask('GET', '/current/api/state', { session });
    expect(contentsOf(json)[0]).toBe('hello');
    expect(contentsOf((await ask('GET', '/api/state', session, { clientId: 'client-b' })).json)[0]).toBe(
      'hello',
    );
    expect((await ask('GET', `/api/sessions/${session.toUpperCase()}`, 'x')).json).toMatchObject({
      session_id: session,
    });
  });
});

describe('nameSession', () => {
  const ids = fc
    .string({ minLength: 1, maxLength: 128, unit: 'grapheme' })
    .filter((id) => !/^[0-9a-f]{8}-/i.test(id));
  const clients = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' });
  const sessionOf = (id: string, clientId: string | undefined, appKey?: string) =>
    nameSession(id, { clientId, appKey }).session?.id;
  const KEY = `sk-app-${'k'.repeat(43)}`;

  it('gives version 5 UUIDs, and always the same one', () => {
    fc.assert(
      fc.property(ids, clients, (id, client) => {
        const found = sessionOf(id, client);
        expect(found).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(sessionOf(id, client, KEY)).toBe(found);
      }),
    );
  });

  it('never gives two clients, two ids, or a client and a key the same session', () => {
    const pair = fc.tuple(ids, clients);
    fc.assert(
      fc.property(pair, pair, ([id, client], [otherId, other]) => {
        const isSame = id === otherId && client === other;
        expect(sessionOf(id, client) === sessionOf(otherId, other)).toBe(isSame);
        expect(sessionOf(id, client)).not.toBe(sessionOf(id, undefined, KEY));
        // What one client could put into its id does not lead to another.
        expect(sessionOf(`${client}\n${id}`, other)).not.toBe(sessionOf(id, client));
      }),
    );
  });

  it('gives no session to a client whose id is no Unicode text', () => {
    expect(sessionOf('default-session', 'a\ud800')).toBeUndefined();
  });
});
