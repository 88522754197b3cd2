import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { SecretSlot } from '../../src/core/model/app.js';
import { RigError } from '../../src/core/ports/rig.js';
import type { Tool } from '../../src/core/ports/tool.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import type { AskOptions } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { fieldsOf, listOf, messagesOf, said } from '../support/snapshot.js';
import { getTime } from '../support/tools.js';

const CLIENT = 'a-long-enough-client';
const EMPTY = { messages: [], system_events: [], title: 'New Chat', is_processing: false, user_state: null };

const slot = (name: string): SecretSlot => ({ name, description: '', required: false });

/** A tool that returns which secrets it was lent. */
const lent: Tool = {
  name: 'lent',
  description: 'Lists secrets.',
  parameters: { type: 'object' },
  sideEffects: 'none',
  timeoutMs: null,
  run: (_args, { secrets }) => Promise.resolve([...secrets.keys()].sort()),
};

let house: House;
let session: string;

beforeEach(async () => {
  house = await openHouse({
    apps: [testApp(), testApp({ name: 'desk', secrets: [slot('TOKEN')] })],
    tools: [getTime, lent],
    surfaces: ['current', 'legacy', 'field'],
  });
  session = randomUUID();
});
afterEach(() => house.close());

const ask = (method: string, path: string, options: AskOptions = {}) =>
  house.ask(method, `/field${path}`, { session, ...options });

/** Sends a message that the rig answers at once; resolves with the settled state. */
async function converse(options: AskOptions, path = '/api/chat') {
  const sent = ask('POST', path, { ...options, headers: { Prefer: 'wait=30', ...options.headers } });
  (await house.rig.next()).text('An answer.').end();
  return sent;
}

describe('parameters of the field surface', () => {
  it('of every POST come from the query or from the body', async () => {
    const fromQuery = await converse({}, '/api/chat?message=hi&public_key=w1&app=default');
    const fromBody = await converse({ body: { message: 'hi', public_key: 'w1', app: 'default' } });
    for (const { status, json } of [fromQuery, fromBody]) {
      expect(status).toBe(200);
      expect(messagesOf(json).at(-1)).toEqual(said('agent', 'An answer.'));
    }
    for (const [path, body] of [
      ['/api/tools?name=get_time&args=%7B%22zone%22%3A%22UTC%22%7D', undefined],
      ['/api/tools', { name: 'get_time', args: { zone: 'UTC' } }],
    ] as const) {
      const { status, json } = await ask('POST', path, body && { body });
      expect([status, json]).toMatchObject([200, { result: { zone: 'UTC' } }]);
    }
    for (const [path, body] of [
      ['/api/control/model?rig=scripted', undefined],
      ['/api/control/model', { rig: 'scripted' }],
    ] as const)
      expect((await ask('POST', path, body && { body })).json).toMatchObject({
        success: true,
        rig: 'scripted',
      });
    for (const [path, body] of [
      ['/api/system?message=a%20note', undefined],
      ['/api/system', { message: 'a note' }],
      ['/api/system', { message: { type: 'unknown', payload: {} } }],
    ] as const) {
      const { status, json } = await ask('POST', path, body && { body });
      expect([status, fieldsOf(json)]).toEqual([200, ['res']]);
    }
    const values = encodeURIComponent(JSON.stringify({ A: 'v' }));
    for (const [path, body] of [
      [`/api/secrets?client_id=${CLIENT}&secrets=${values}`, undefined],
      ['/api/secrets', { client_id: CLIENT, secrets: { A: 'v' } }],
    ] as const)
      expect((await ask('POST', path, body && { body })).json).toEqual({ handles: { A: '$SECRET:A' } });
  });

  it.each(['SERVICE-APP-KEY', 'X-API-Key', 'x-api-key'])('take the App key from %s', async (header) => {
    const key = await grantKey(house.store, ['desk']);
    const { status } = await converse({ body: { message: 'hi', app: 'desk' }, headers: { [header]: key } });
    expect(status).toBe(200);
    expect((await ask('POST', '/api/chat', { body: { message: 'hi', app: 'desk' } })).status).toBe(401);
  });

  it('take namespace for app, and app before it', async () => {
    const headers = { 'X-API-Key': await grantKey(house.store, ['desk']) };
    await converse({ body: { message: 'hi', namespace: 'desk' }, headers });
    expect(await house.store.loadThread(session)).toMatchObject({ session: { app: 'desk' } });
    expect((await ask('POST', '/api/chat', { body: { message: 'hi', namespace: 'desk' } })).status).toBe(401);
    expect((await converse({}, '/api/chat?message=hi&namespace=desk&app=default')).status).toBe(200);
    expect((await ask('GET', '/api/tools?namespace=desk')).status).toBe(401);
  });

  it('refuse long arguments of a tool in the query as in the body', async () => {
    const args = JSON.stringify({ zone: 'x'.repeat(16_384) });
    const inQuery = await ask('POST', `/api/tools?name=get_time&args=${args}`);
    expect(inQuery.json).toMatchObject({ error: 'args must have at most 16 KiB', code: 'invalid' });
    expect((await ask('POST', '/api/tools', { body: { name: 'get_time', args } })).status).toBe(413);
  });

  it('take [object Object] for the App default', async () => {
    const app = '[object Object]';
    expect((await converse({ body: { message: 'hi', app } })).status).toBe(200);
    expect((await converse({ body: { message: 'hi', namespace: app } })).status).toBe(200);
    expect((await ask('GET', `/api/control/models?app=${encodeURIComponent(app)}`)).json).toEqual([
      'scripted',
    ]);
  });

  it.each([
    ['no JSON', '{'],
    ['no object', '[1]'],
    ['a wrong type', '{"evm":{"address":5}}'],
    ['too deep', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
    ['too large', JSON.stringify({ a: 'x'.repeat(70_000) })],
  ])('ignore a user_state of chat that is unusable: %s', async (_, state) => {
    const { status, json } = await converse({ body: { message: 'hi', user_state: state } });
    expect([status, objectOf(json).user_state]).toEqual([200, null]);
  });

  it.each([
    ['a UUID', undefined, {}],
    ['another id', 'default-session', { evm: { address: 'w' } }],
  ])('ignore a user_state of chat that has no room, but not the wallet: %s', async (_, id, shown) => {
    const large = (key: string) => ({ [key]: 'x'.repeat(40_000) });
    const named = { session: id ?? session };
    const body = { message: 'hi', client_id: CLIENT };
    const { json } = await converse({ ...named, body: { ...body, user_state: large('a') } });
    expect(objectOf(json).user_state).toEqual(large('a'));
    const full = await ask('POST', '/api/chat', {
      ...named,
      body: { ...body, user_state: large('b'), public_key: 'w' },
    });
    expect([full.status, objectOf(full.json).user_state]).toEqual([200, { ...large('a'), ...shown }]);
    const listed = await ask('GET', '/api/sessions?public_key=w');
    expect(listed.json).toHaveLength(id === undefined ? 1 : 0);
  });

  it('take a usable user_state, and refuse an unusable one in a poll', async () => {
    const { json } = await converse({ body: { message: 'hi', user_state: { evm: { address: '0x1' } } } });
    expect(objectOf(json).user_state).toEqual({ evm: { address: '0x1' } });
    expect((await ask('GET', '/api/state?user_state=%7B')).status).toBe(400);
  });

  it('answer a blank message with the unchanged snapshot', async () => {
    const { json } = await converse({ body: { message: 'hi' } });
    for (const message of ['', ' \n']) {
      const blank = await ask('POST', '/api/chat', { body: { message, public_key: 'w' } });
      expect([blank.status, messagesOf(blank.json)]).toEqual([200, messagesOf(json)]);
      expect(objectOf(blank.json).is_processing).toBe(false);
      expect(blank.headers.get('x-turn-id')).toBeNull();
    }
    expect((await ask('POST', '/api/chat', {})).status).toBe(400);
    expect(house.rig.asked).toHaveLength(1);
    // Its other fields change nothing either.
    expect((await house.ask('GET', '/field/api/sessions?public_key=w')).json).toEqual([]);
  });
});

describe('lists of the field surface', () => {
  it('has the names of Apps alone', async () => {
    const headers = { 'X-API-Key': await grantKey(house.store, ['desk']) };
    expect((await ask('GET', '/api/control/apps?public_key=w')).json).toEqual(['default']);
    expect((await ask('GET', '/api/control/apps', { headers })).json).toEqual(['default', 'desk']);
    expect((await ask('GET', '/api/control/apps', { headers: { 'X-API-Key': 'bad' } })).status).toBe(401);
  });

  it('has threads with whether they are archived, without a session header', async () => {
    await ask('POST', '/api/sessions', { body: { public_key: 'w' } });
    const listed = async () => (await house.ask('GET', '/field/api/sessions?public_key=w')).json;
    const thread = { session_id: session, title: 'New Chat' };
    expect(await listed()).toEqual([{ ...thread, is_archived: false }]);
    for (const [action, is_archived] of [
      ['archive', true],
      ['archive', true],
      ['unarchive', false],
      ['unarchive', false],
      ['archive', true],
    ] as const) {
      const { status, json } = await house.ask('POST', `/field/api/sessions/${session}/${action}`);
      expect([status, json]).toEqual([200, { session_id: session, is_archived }]);
      expect(await listed()).toEqual([{ ...thread, is_archived }]);
    }
    expect((await ask('GET', `/api/sessions/${session}`)).json).toEqual({ ...thread, is_archived: true });
    // It stays usable.
    expect((await converse({ body: { message: 'hi' } })).status).toBe(200);
    expect(objectOf((await ask('GET', `/api/sessions/${session}`)).json).is_archived).toBe(true);
    expect((await ask('POST', `/api/sessions/${randomUUID()}/archive`)).status).toBe(404);
    expect((await house.ask('GET', '/field/api/sessions')).status).toBe(400);
  });

  it('of threads goes on by its Link header', async () => {
    for (const id of [randomUUID(), randomUUID()])
      await ask('POST', '/api/sessions', { session: id, body: { public_key: 'w' } });
    const { headers } = await house.ask('GET', '/field/api/sessions?public_key=w&limit=1');
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(next).toMatch(/^\/field\/api\/sessions\?/);
    expect((await house.ask('GET', next)).json).toHaveLength(1);
  });
});

describe('a deleted session on the field surface', () => {
  beforeEach(async () => {
    await converse({ body: { message: 'hi', public_key: 'w' } });
    await ask('DELETE', `/api/sessions/${session}`);
  });

  it('is empty, and stays deleted whatever a poll sends', async () => {
    const state = encodeURIComponent('{"evm":{"address":"0x1"}}');
    for (const path of [
      '',
      `?user_state=${state}`,
      `?client_id=${CLIENT}`,
      `?user_state=${state}&client_id=${CLIENT}`,
      '?tail=1',
    ]) {
      const { status, json } = await ask('GET', `/api/state${path}`);
      expect([path, status, json]).toEqual([path, 200, EMPTY]);
    }
    const interrupted = await ask('POST', '/api/interrupt');
    expect([interrupted.status, interrupted.json]).toEqual([200, EMPTY]);
    const blank = await ask('POST', '/api/chat', { body: { message: ' ' } });
    expect([blank.status, blank.json]).toEqual([200, EMPTY]);
    expect((await ask('GET', `/api/sessions/${session}`)).status).toBe(404);
    expect((await house.ask('GET', '/current/api/state', { session })).status).toBe(404);
  });

  it('is answered with 304 for the tag of its empty state', async () => {
    const { headers } = await ask('GET', '/api/state');
    const again = await ask('GET', '/api/state', { headers: { 'If-None-Match': headers.get('etag') ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('comes back empty with a message', async () => {
    const { json } = await converse({ body: { message: 'again' } });
    expect(messagesOf(json).map(({ content }) => content)).toEqual(['again', 'An answer.']);
    expect((await ask('GET', `/api/sessions/${session}`)).status).toBe(200);
  });

  it('is an empty snapshot when it is deleted while its message is answered', async () => {
    const sent = ask('POST', '/api/chat', { body: { message: 'again' }, headers: { Prefer: 'wait=30' } });
    await house.rig.next();
    await ask('DELETE', `/api/sessions/${session}`);
    expect([(await sent).status, (await sent).json]).toEqual([200, EMPTY]);
  });
});

describe('a failed turn on the field surface', () => {
  const fail = async () => {
    const sent = ask('POST', '/api/chat', { body: { message: 'hi' }, headers: { Prefer: 'wait=30' } });
    (await house.rig.next())
      .text('Well, ')
      .fail(new RigError('The model is out of order.', { retryable: false }));
    return sent;
  };
  const failure = 'The model is out of order.';

  it('ends with an agent message of the same words', async () => {
    const { json, headers } = await fail();
    expect(objectOf(json).system_events).toEqual([{ SystemError: failure }]);
    const messages = [
      said('user', 'hi'),
      said('agent', 'Well, '),
      said('system', failure),
      said('agent', failure),
    ];
    expect(messagesOf(json)).toEqual(messages);
    expect(headers.get('x-total-messages')).toBe('4');
    const tail = await ask('GET', '/api/state?tail=2');
    expect(messagesOf(tail.json)).toEqual(messages.slice(2));
    expect(tail.headers.get('x-total-messages')).toBe('4');
    // It stays where it is when the conversation goes on.
    const next = await converse({ body: { message: 'again' } });
    expect(messagesOf(next.json)).toEqual([...messages, said('user', 'again'), said('agent', 'An answer.')]);
  });

  it('is unchanged on the strict surfaces, under another tag', async () => {
    await fail();
    const field = await ask('GET', '/api/state');
    const current = await house.ask('GET', '/current/api/state', { session });
    expect(messagesOf(current.json)).toEqual([
      said('user', 'hi'),
      said('agent', 'Well, '),
      said('system', failure),
    ]);
    expect(current.headers.get('etag')).not.toBe(field.headers.get('etag'));
    const legacy = await house.ask('GET', `/legacy/api/thread/state?session_id=${session}`);
    expect(listOf(objectOf(legacy.json).messages)).toHaveLength(3);
    const records = objectOf((await ask('GET', `/api/sessions/${session}/messages`)).json);
    expect(listOf(records.messages)).toHaveLength(3);
  });

  it('is not mistaken for a note of a client', async () => {
    await ask('POST', '/api/system', { body: { message: 'a note' } });
    const { json } = await ask('GET', '/api/state');
    expect(messagesOf(json)).toEqual([said('system', 'a note')]);
  });
});

describe('secrets of the field surface', () => {
  const store = (body: object, headers: Record<string, string> = {}) =>
    house.ask('POST', '/field/api/secrets', { body: { client_id: CLIENT, ...body }, headers });
  const call = (app: string, key: string) =>
    ask('POST', `/api/tools?client_id=${CLIENT}`, {
      body: { name: 'lent', app },
      headers: { 'X-API-Key': key },
    });

  it('without an App serve the slots of any App, need no session, and may have colons', async () => {
    const key = await grantKey(house.store, ['desk']);
    expect((await store({ secrets: { TOKEN: 'v', OTHER: 'v', 'rpc:mainnet': 'v' } })).json).toEqual({
      handles: { TOKEN: '$SECRET:TOKEN', OTHER: '$SECRET:OTHER', 'rpc:mainnet': '$SECRET:rpc:mainnet' },
    });
    expect((await call('desk', key)).json).toMatchObject({ result: ['TOKEN'] });
    expect(house.log()).toContain('/field/api/secrets');
  });

  it('are listed for the client of the session', async () => {
    await store({ secrets: { TOKEN: 'v' } });
    expect((await house.ask('GET', '/field/api/secrets')).json).toEqual({ by_app: {} });
    expect((await ask('GET', '/api/secrets')).json).toEqual({ by_app: {} });
    expect((await house.ask('GET', `/field/api/secrets?client_id=${CLIENT}`)).json).toEqual({
      by_app: { default: ['TOKEN'] },
    });
    // A poll binds the session.
    await ask('GET', `/api/state?client_id=${CLIENT}`);
    expect((await ask('GET', '/api/secrets')).json).toEqual({ by_app: { default: ['TOKEN'] } });
    expect((await ask('GET', '/api/secrets', { session: randomUUID() })).json).toEqual({ by_app: {} });
  });

  it('are removed', async () => {
    await store({ secrets: { TOKEN: 'v', 'a:b': 'v' } });
    const path = `/field/api/secrets`;
    expect((await house.ask('DELETE', `${path}/a:b?client_id=${CLIENT}`)).json).toEqual({ deleted: true });
    expect((await house.ask('DELETE', `${path}?client_id=${CLIENT}`)).json).toEqual({ cleared: true });
    expect((await house.ask('GET', `${path}?client_id=${CLIENT}`)).json).toEqual({ by_app: {} });
  });

  it('are refused without values or with a short client_id', async () => {
    for (const body of [
      {},
      { secrets: null },
      { secrets: 'text' },
      { secrets: {} },
      { secrets: { A: 'v' }, client_id: 'short' },
    ])
      expect((await store(body)).status).toBe(400);
  });
});

describe('provider keys of the field surface', () => {
  it('are stored, listed and removed', async () => {
    const path = '/field/api/control/provider-keys';
    const fields = {
      client_id: CLIENT,
      provider: 'openai',
      byok_key: 'sk-proj-0123456789abcdef',
      label: 'team',
    };
    const stored = await house.ask('POST', path, { body: fields });
    const key = objectOf(objectOf(stored.json).key);
    expect([stored.status, key]).toMatchObject([200, { provider: 'openai', label: 'team', is_active: true }]);
    expect(fieldsOf(key)).toEqual(['provider', 'key_prefix', 'label', 'is_active']);
    const query = new URLSearchParams({ ...fields, provider: 'anthropic' }).toString();
    expect((await house.ask('POST', `${path}?${query}`)).status).toBe(200);
    const listed = objectOf((await house.ask('GET', `${path}?client_id=${CLIENT}`)).json);
    expect(listOf(listed.provider_keys)).toHaveLength(2);
    expect(listed.byok_keys).toEqual(listed.provider_keys);
    for (const deleted of [true, false])
      expect((await house.ask('DELETE', `${path}/openai?client_id=${CLIENT}`)).json).toEqual({ deleted });
    expect((await house.ask('POST', path, { body: { client_id: CLIENT, provider: 'openai' } })).status).toBe(
      400,
    );
    expect((await house.ask('GET', path)).status).toBe(400);
    expect([...house.answers, house.log()].join('\n')).not.toContain('0123456789abcdef');
  });
});

describe('provider keys of a session', () => {
  it('belong to the client that a poll has bound it to', async () => {
    const path = '/api/control/provider-keys';
    const body = { provider: 'openai', api_key: 'sk-proj-0123456789abcdef' };
    expect((await ask('POST', path, { body })).status).toBe(400);
    await ask('GET', `/api/state?client_id=${CLIENT}`);
    expect((await ask('POST', path, { body })).status).toBe(200);
    const { json } = await house.ask('GET', `/field${path}?client_id=${CLIENT}`);
    expect(listOf(objectOf(json).provider_keys)).toMatchObject([{ provider: 'openai' }]);
    expect((await ask('DELETE', `${path}/openai`)).json).toEqual({ deleted: true });
  });
});

describe('accounts on the field surface', () => {
  it.each(['/api/settings/account', '/api/account'])(
    '%s is 401 in the format of the current surface',
    async (path) => {
      const { status, json } = await house.ask('GET', `/field${path}`);
      expect([status, fieldsOf(json), objectOf(json).code]).toEqual([
        401,
        ['error', 'code', 'request_id'],
        'unauthenticated',
      ]);
      expect((await house.ask('GET', path)).status).toBe(404);
    },
  );
});
