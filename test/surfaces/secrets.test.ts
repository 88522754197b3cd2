import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tool } from '../../src/core/ports/tool.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { grantKey } from '../support/keys.js';
import { messagesOf } from '../support/snapshot.js';
import { openStore } from '../support/http.js';
import { getTime } from '../support/tools.js';

const CLIENT = 'client-of-16-char';
const OTHER = 'another-client-id';

/** Tells which secrets it was lent, by their lengths. */
const lent: Tool = {
  ...getTime,
  name: 'lent',
  run: (_, { secrets }) =>
    Promise.resolve(Object.fromEntries([...secrets].map(([name, value]) => [name, value.length]))),
};

const slots = [
  { name: 'API_KEY', description: 'Vendor key', required: true },
  { name: 'REGION', description: 'Region', required: false },
];
const apps = [testApp(), testApp({ name: 'paid', secrets: slots }), testApp({ name: 'other' })];
let house: House;
let key: string;
let session: string;

beforeEach(async () => {
  house = await openHouse({ apps, tools: [lent] });
  key = await grantKey(house.store, ['paid']);
  session = randomUUID();
});
afterEach(() => house.close());

function store(body: object, options: { key?: string; session?: string; query?: string } = {}) {
  return house.ask('POST', `/api/secrets${options.query ?? ''}`, {
    ...(options.session !== undefined && { session: options.session }),
    headers: options.key === undefined ? {} : { 'SERVICE-APP-KEY': options.key },
    body: { client_id: CLIENT, ...body },
  });
}

async function names(clientId = CLIENT) {
  return (await house.ask('GET', `/api/secrets?client_id=${clientId}`)).json;
}

async function lentTo(options: { session?: string; clientId?: string } = {}) {
  const body = { name: 'lent', ...(options.clientId !== undefined && { client_id: options.clientId }) };
  const { json } = await house.ask('POST', '/api/tools', { session: options.session ?? session, body });
  return objectOf(json).result;
}

describe('POST /api/secrets', () => {
  it('answers with handles, and stores for the App', async () => {
    const { status, json } = await store({ secrets: { TOKEN: 'tok-1', B: 'b' } });
    expect([status, json]).toEqual([200, { handles: { TOKEN: '$SECRET:TOKEN', B: '$SECRET:B' } }]);
    expect((await store({ secrets: { TOKEN: 'tok-2' }, app: 'paid' }, { key })).status).toBe(200);
    expect(await names()).toEqual({ by_app: { default: ['B', 'TOKEN'], paid: ['TOKEN'] } });
    expect(await names(OTHER)).toEqual({ by_app: {} });
  });

  it('needs the key of an App that is not default, by the header of its surface', async () => {
    const body = { secrets: { A: 'v' }, app: 'paid' };
    expect((await store(body)).status).toBe(401);
    expect((await store(body, { key: 'bad' })).status).toBe(401);
    expect((await store({ ...body, app: 'other' }, { key })).status).toBe(403);
    expect((await store({ ...body, app: 'none' }, { key })).status).toBe(403);
    const wrong = await house.ask('POST', '/api/secrets', {
      headers: { 'X-API-Key': key },
      body: { client_id: CLIENT, ...body },
    });
    expect(wrong.status).toBe(401);
    expect((await store({ secrets: { A: 'v' } }, { query: '?app=paid' })).status).toBe(401);
    expect(await names()).toEqual({ by_app: {} });
  });

  it.each<readonly [string, object, string]>([
    ['no client', { client_id: null, secrets: { A: 'v' } }, 'client_id'],
    ['a short client id', { client_id: 'x'.repeat(15), secrets: { A: 'v' } }, 'client_id'],
    ['a client id that is no text', { client_id: 5, secrets: { A: 'v' } }, 'client_id'],
    ['no secrets', {}, 'secrets'],
    ['secrets as a list', { secrets: ['v'] }, 'secrets'],
    ['secrets as JSON text', { secrets: '{"A":"v"}' }, 'secrets'],
    ['an empty object', { secrets: {} }, 'secrets'],
    ['a bad name', { secrets: { 'no blanks': 'v' } }, 'secrets'],
    ['a name that begins with a digit', { secrets: { '1A': 'v' } }, 'secrets'],
    ['a value that is no text', { secrets: { A: { b: 'c' } } }, 'secrets.A'],
    ['an empty value', { secrets: { A: '' } }, 'secrets.A'],
    ['a value of more than 8 KiB', { secrets: { A: 'v'.repeat(8193) } }, 'secrets.A'],
  ])('refuses %s, and keeps nothing', async (_name, body, path) => {
    const { status, json, text } = await store(body);
    expect([status, json]).toMatchObject([
      400,
      { code: 'invalid', details: [expect.objectContaining({ path })] },
    ]);
    expect(text).not.toContain('vvvv');
    expect(await names()).toEqual({ by_app: {} });
  });

  it('refuses with 413 what is too much for a client, and with 429 what is too much for an App', async () => {
    const values = (from: number) =>
      Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`N${String(from + n)}`, 'v'.repeat(8_000)]));
    expect((await store({ secrets: values(0) })).status).toBe(200);
    expect(await store({ secrets: values(64) })).toMatchObject({
      status: 413,
      json: { code: 'full', error: expect.stringContaining('delete some first') },
    });
    const full = { ...house.store, putSecrets: () => Promise.resolve('app' as const) };
    const crowded = await openHouse({ store: full });
    try {
      const body = { client_id: CLIENT, secrets: { A: 'v' } };
      const refused = await crowded.ask('POST', '/api/secrets', { body });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    } finally {
      await crowded.close();
    }
  });

  it('takes a client id of 16 characters, from the body alone', async () => {
    expect((await store({ client_id: 'x'.repeat(16), secrets: { A: 'v' } })).status).toBe(200);
    const inQuery = await house.ask('POST', `/api/secrets?client_id=${CLIENT}`, {
      body: { secrets: { A: 'v' } },
    });
    expect(inQuery.status).toBe(400);
  });

  it('takes names that objects have, and values of any text', async () => {
    const secrets = '{"__proto__":"#","constructor":"~~","U":"päss 🔑\\n\\u0000"}';
    const answer = await house.ask('POST', '/api/secrets', {
      body: `{"client_id":"${CLIENT}","secrets":${secrets}}`,
    });
    expect(answer.text).toBe(
      '{"handles":{"__proto__":"$SECRET:__proto__","constructor":"$SECRET:constructor","U":"$SECRET:U"}}',
    );
    const listed = await house.ask('GET', `/api/secrets?client_id=${CLIENT}`);
    expect(listed.text).toBe('{"by_app":{"default":["U","__proto__","constructor"]}}');
    const { text } = await house.ask('POST', '/api/tools', {
      session,
      body: { name: 'lent', client_id: CLIENT },
    });
    expect(text).toContain('"result":{"U":9,"__proto__":1,"constructor":2}');
    expect((await house.ask('DELETE', `/api/secrets/__proto__?client_id=${CLIENT}`)).json).toEqual({
      deleted: true,
    });
  });

  it('bounds how many a client has, with 400', async () => {
    const some = (n: number) =>
      Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`N${String(n)}_${String(at)}`, 'v']));
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => store({ secrets: some(n) })));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 400, 400]);
  });

  it('keeps one value whole when several are stored at once', async () => {
    const lengths = Array.from({ length: 20 }, (_, n) => n + 1);
    const all = await Promise.all(
      lengths.map((n) => store({ secrets: { A: 'a'.repeat(n), B: 'b'.repeat(n) } })),
    );
    expect(all.every(({ status }) => status === 200)).toBe(true);
    const { A, B } = objectOf(await lentTo({ clientId: CLIENT }));
    expect(A).toBe(B);
    expect(lengths).toContain(A);
  });
});

describe('DELETE /api/secrets', () => {
  beforeEach(async () => {
    await store({ secrets: { A: '1', B: '2' } });
    await store({ secrets: { A: '3', C: '4' }, app: 'paid' }, { key });
    await store({ client_id: OTHER, secrets: { A: '5' } });
  });

  it('removes one by name, of one App or of all', async () => {
    const remove = async (path: string) => (await house.ask('DELETE', `/api/secrets/${path}`)).json;
    expect(await remove(`A?client_id=${CLIENT}&app=paid`)).toEqual({ deleted: true });
    expect(await names()).toEqual({ by_app: { default: ['A', 'B'], paid: ['C'] } });
    expect(await remove(`A?client_id=${CLIENT}&app=paid`)).toEqual({ deleted: false });
    expect(await remove(`A?client_id=${CLIENT}`)).toEqual({ deleted: true });
    expect(await remove(`none?client_id=${CLIENT}`)).toEqual({ deleted: false });
    expect(await remove(`%D0%BA?client_id=${CLIENT}`)).toEqual({ deleted: false });
    expect(await names()).toEqual({ by_app: { default: ['B'], paid: ['C'] } });
    expect(await names(OTHER)).toEqual({ by_app: { default: ['A'] } });
  });

  it('removes all, of one App or of every one', async () => {
    const clear = async (query: string) => (await house.ask('DELETE', `/api/secrets?${query}`)).json;
    expect(await clear(`client_id=${CLIENT}&app=default`)).toEqual({ cleared: true });
    expect(await names()).toEqual({ by_app: { paid: ['A', 'C'] } });
    expect(await clear(`client_id=${CLIENT}`)).toEqual({ cleared: true });
    expect(await clear(`client_id=${CLIENT}`)).toEqual({ cleared: false });
    expect(await names()).toEqual({ by_app: {} });
    expect(await names(OTHER)).toEqual({ by_app: { default: ['A'] } });
  });

  it('needs the client', async () => {
    for (const [method, path] of [
      ['GET', '/api/secrets'],
      ['DELETE', '/api/secrets'],
      ['DELETE', '/api/secrets/A'],
    ] as const) {
      expect([path, (await house.ask(method, path)).status]).toEqual([path, 400]);
      expect([path, (await house.ask(method, `${path}?client_id=a&client_id=b`)).status]).toEqual([
        path,
        400,
      ]);
    }
    expect((await house.ask('DELETE', `/api/secrets/%ff?client_id=${CLIENT}`)).status).toBe(400);
    expect(await names()).toEqual({ by_app: { default: ['A', 'B'], paid: ['A', 'C'] } });
  });
});

describe('the client of a session', () => {
  it('is bound by X-Session-Id on any of these paths, and outlives a restart', async () => {
    await store({ secrets: { A: 'v' } });
    expect(await lentTo()).toEqual({});
    await store({ secrets: { B: 'vv' } }, { session });
    expect(await lentTo()).toEqual({ A: 1, B: 2 });
    const [byList, byDelete] = [randomUUID(), randomUUID()];
    await house.ask('GET', `/api/secrets?client_id=${CLIENT}`, { session: byList });
    await house.ask('DELETE', `/api/secrets/none?client_id=${CLIENT}`, { session: byDelete });
    for (const other of [byList, byDelete]) expect(await lentTo({ session: other })).toEqual({ A: 1, B: 2 });
    const stored = await house.store.loadThread(session);
    expect(stored).toMatchObject({ session: { client: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  });

  it('is the one that was bound last, and that of a request goes before it', async () => {
    await store({ secrets: { A: 'v' } }, { session });
    await store({ client_id: OTHER, secrets: { A: 'vvv' } });
    expect(await lentTo({ clientId: OTHER })).toEqual({ A: 3 });
    expect(await lentTo()).toEqual({ A: 1 });
    await house.ask('GET', `/api/secrets?client_id=${OTHER}`, { session });
    expect(await lentTo()).toEqual({ A: 3 });
    // A blank one names nobody.
    expect(await lentTo({ clientId: '' })).toEqual({ A: 3 });
  });

  it('is not bound by a store that is refused, nor by a malformed session', async () => {
    await store({ secrets: { A: 'v' } });
    expect((await store({ secrets: { A: '' } }, { session })).status).toBe(400);
    expect((await store({ secrets: { A: 'v' } }, { session: 'no-uuid' })).status).toBe(400);
    expect(await lentTo()).toEqual({});
  });

  it('is neither answered nor logged, and neither is a value', async () => {
    await store({ secrets: { A: 'canary-value-1' } }, { session });
    await names();
    await house.ask('POST', `/api/chat?message=hi&client_id=${CLIENT}`, { session });
    (await house.rig.next()).text('ok').end();
    await house.ask('DELETE', `/api/secrets?client_id=${CLIENT}`, { session });
    await store({ secrets: { A: 5 } });
    const said = house.answers.join('\n') + house.log();
    expect(said).not.toContain(CLIENT);
    expect(said).not.toContain('canary-value-1');
    expect(house.log()).toContain('"route":"/api/secrets"');
  });
});

describe('a required slot', () => {
  it('need not be filled for the repeat of an accepted message', async () => {
    const send = (message: string, idempotencyKey: string) =>
      house.ask('POST', `/api/chat?message=${message}&app=paid&client_id=${CLIENT}`, {
        ...{ session, headers: { 'SERVICE-APP-KEY': key, 'Idempotency-Key': idempotencyKey } },
      });
    await store({ app: 'paid', secrets: { API_KEY: 'v' } }, { key });
    const first = await send('hi', 'a');
    expect((await house.ask('DELETE', `/api/secrets?client_id=${CLIENT}`)).json).toEqual({ cleared: true });
    const repeat = await send('hi', 'a');
    expect([repeat.status, repeat.json]).toMatchObject([200, { messages: [{ content: 'hi' }] }]);
    expect(repeat.headers.get('x-turn-id')).toBe(first.headers.get('x-turn-id'));
    expect((await send('other', 'a')).status).toBe(422);
    const next = await send('hi', 'b');
    expect([next.status, next.json]).toMatchObject([400, { details: [{ path: 'secrets.API_KEY' }] }]);
    await house.ask('POST', '/api/interrupt', { session });
  });

  const headers = () => ({ 'SERVICE-APP-KEY': key, 'X-API-Key': key });
  const refusal = expect.stringContaining('API_KEY');

  it('that is empty refuses messages on both surfaces, names the slot, and stores nothing', async () => {
    await store({ secrets: { REGION: 'eu', OTHER: 'x' }, app: 'paid' }, { key });
    await store({ secrets: { API_KEY: 'in default' } });
    const current = await house.ask('POST', `/api/chat?message=hi&app=paid&client_id=${CLIENT}`, {
      ...{ session, headers: headers() },
    });
    expect([current.status, current.json]).toEqual([
      400,
      {
        ...{ error: refusal, code: 'invalid', request_id: expect.any(String) },
        details: [{ path: 'secrets.API_KEY', message: 'Vendor key' }],
      },
    ]);
    const legacy = await house.ask('POST', `/legacy/api/thread/chat?app=paid&client_id=${CLIENT}`, {
      ...{ session, headers: headers(), body: { text: 'hi' } },
    });
    expect([legacy.status, legacy.json]).toEqual([400, { error: refusal }]);
    expect((await house.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });

  it('that is filled lets them through, by client_id or by the bound session', async () => {
    await store({ secrets: { API_KEY: 'v' }, app: 'paid' }, { key });
    const asked = house.ask('POST', `/api/chat?message=hi&app=paid&client_id=${CLIENT}`, {
      ...{ session, headers: { ...headers(), Prefer: 'wait=60' } },
    });
    (await house.rig.next()).call('c1', 'lent').end();
    (await house.rig.next()).text('done').end();
    expect(messagesOf((await asked).json)).toContainEqual(
      expect.objectContaining({ tool_result: ['lent', '{"API_KEY":1}'] }),
    );
    const bound = randomUUID();
    await house.ask('GET', `/api/secrets?client_id=${CLIENT}`, { session: bound });
    const stream = house.watch('/api/thread/chat?app=paid', bound, {
      ...{ method: 'POST', headers: headers(), body: JSON.stringify({ text: 'hi' }) },
    });
    (await house.rig.next()).text('hello').end();
    expect(await (await stream).end()).toContain('"type":"complete"');
    // Emptied again, the next message is refused.
    await house.ask('DELETE', `/api/secrets/API_KEY?client_id=${CLIENT}`);
    const again = await house.ask('POST', '/api/chat?message=hi&app=paid', {
      session: bound,
      headers: headers(),
    });
    expect(again.status).toBe(400);
  });
});

describe('when SECRETS_KEY has changed', () => {
  it('what the old key sealed is refused or failed in words, other calls work, and a new value heals it', async () => {
    const shared = await openStore('sqlite');
    const before = await openHouse({ apps, tools: [lent], store: shared, keys: [randomBytes(32)] });
    const headers = { 'SERVICE-APP-KEY': await grantKey(shared, ['paid']) };
    const body = { client_id: CLIENT, secrets: { API_KEY: 'v' }, app: 'paid' };
    await before.ask('POST', '/api/secrets', { session, headers, body });
    await before.close();
    const after = await openHouse({ apps, tools: [lent], store: shared, keys: [randomBytes(32)] });
    try {
      const refused = await after.ask('POST', '/api/chat?message=hi&app=paid', { session, headers });
      expect([refused.status, refused.json]).toMatchObject([
        400,
        { error: expect.stringMatching(/API_KEY.*can no longer be opened.*Store it again/), code: 'invalid' },
      ]);
      const tool = { name: 'lent', app: 'paid' };
      expect((await after.ask('POST', '/api/tools', { session, headers, body: tool })).status).toBe(400);
      expect((await after.ask('POST', '/api/tools', { session, body: { name: 'lent' } })).status).toBe(200);
      await after.ask('POST', '/api/secrets', { headers, body });
      expect((await after.ask('POST', '/api/tools', { session, headers, body: tool })).json).toMatchObject({
        result: { API_KEY: 1 },
      });
    } finally {
      await after.close();
      await shared.close();
    }
  });
});
