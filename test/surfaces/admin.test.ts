import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { RigError } from '../../src/core/ports/rig.js';
import { NO_LIMITS } from '../../src/core/model/quota.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';

const TOKEN = 'a-token-of-more-than-16-characters';
const bearer = { headers: { Authorization: `Bearer ${TOKEN}` } };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let house: House;

beforeEach(async () => {
  house = await openHouse({
    adminToken: TOKEN,
    apps: [testApp(), testApp({ name: 'desk' })],
    settings: { limits: { session: { ...NO_LIMITS, turnsPerDay: 7 }, key: NO_LIMITS } },
  });
});
afterEach(() => house.close());

/** Sends a message and reads the operator's path while and after it is answered. */
async function send(session: string): Promise<void> {
  const { status } = await house.ask('POST', '/api/chat?message=Hello', { session });
  expect(status).toBe(200);
}

const post = (body: unknown) => house.ask('POST', '/admin/api/keys', { ...bearer, body });

const get = async (path: string) => objectOf((await house.ask('GET', `/admin/api${path}`, bearer)).json);

describe('the operator’s paths', () => {
  const paths = [
    ['GET', '/overview'],
    ['GET', '/sessions'],
    ['GET', '/search?q=text'],
    ['GET', `/sessions/${randomUUID()}/messages`],
    ['GET', `/sessions/${randomUUID()}/export`],
    ['POST', `/sessions/${randomUUID()}/interrupt`],
    ['DELETE', `/sessions/${randomUUID()}`],
    ['GET', '/uses'],
    ['GET', '/secrets'],
    ['GET', '/report'],
    ['GET', '/keys'],
    ['POST', '/keys'],
    ['DELETE', '/keys/some'],
  ] as const;

  it.each(paths)('take the token and nothing else: %s %s', async (method, path) => {
    const wrong = ['', 'Bearer', 'Bearer wrong', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`];
    for (const Authorization of wrong) {
      const answer = await house.ask(method, `/admin/api${path}`, { headers: { Authorization } });
      expect([answer.status, objectOf(answer.json).code]).toEqual([401, 'unauthenticated']);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="admin"');
    }
    const answer = await house.ask(method, `/admin/api${path}`, bearer);
    expect(answer.status).not.toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('are not there without a token in the configuration', async () => {
    const plain = await openHouse();
    try {
      const answer = await plain.ask('GET', '/admin/api/overview', bearer);
      expect(answer.status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  it('are at the root alone', async () => {
    expect((await house.ask('GET', '/current/admin/api/overview', bearer)).status).toBe(404);
  });
});

describe('the overview', () => {
  it('shows a turn while it runs, and what it was once it has ended', async () => {
    const session = randomUUID();
    await send(session);
    const asked = await house.rig.next();
    const during = await get('/overview');
    expect(during).toMatchObject({
      ...{ status: 'ok', running: 1, queued: 0, apps: ['default', 'desk'] },
      started_at: expect.stringMatching(ISO),
      turns: [{ session_id: session, status: 'running', app: 'default', key_id: null, attempt: 1 }],
      sessions: { hour: 1, day: 1, most: 10_000 },
      failures: [],
    });
    asked.text('Hi').end({ inputTokens: 11, outputTokens: 2 });
    await house.core.turnEnded(
      { sessionId: session, turnId: turnIdOf(during), repeated: false },
      new AbortController().signal,
    );
    const after = await get('/overview?span=day');
    expect(after).toMatchObject({ running: 0, turns: [] });
    const points = pointsOf(after);
    expect(points).toHaveLength(96);
    const sum = (name: string): number =>
      points.reduce<number>((total, point) => total + Number(objectOf(point)[name]), 0);
    expect([sum('complete'), sum('failed'), sum('input_tokens'), sum('output_tokens')]).toEqual([
      1, 0, 11, 2,
    ]);
  });

  it('shows what failed, in the words that the user got, and why', async () => {
    const session = randomUUID();
    const ended = house.ask('POST', '/api/chat?message=Hello', { session, headers: { Prefer: 'wait=30' } });
    const reason = 'no such model (HTTP 404)';
    (await house.rig.next()).fail(new RigError('The model is on strike', { retryable: false }, { reason }));
    expect((await ended).text).not.toContain(reason);
    expect((await get('/overview')).failures).toEqual([
      {
        ...{ session: markOf(session), session_id: session, app: 'default' },
        ...{ error: 'The model is on strike', reason },
        ...{ at: expect.stringMatching(ISO), turn_id: expect.any(String), rig: expect.any(String) },
      },
    ]);
    await house.ask('DELETE', `/api/sessions/${session}`, {});
    expect((await get('/overview')).failures).toMatchObject([
      { session: null, session_id: null, error: null, reason },
    ]);
  });

  it('refuses another span', async () => {
    expect((await house.ask('GET', '/admin/api/overview?span=year', bearer)).status).toBe(400);
  });
});

describe('sessions', () => {
  it('are listed by pages, interrupted and deleted', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of ids) await house.ask('POST', '/api/sessions', { session: id });
    const first = await get('/sessions?limit=2');
    const second = await get(`/sessions?limit=2&cursor=${textOf(first, 'next')}`);
    expect(cursorOf(second)).toBeNull();
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...ids].sort());
    const [id = ''] = ids;
    const interrupted = await house.ask('POST', `/admin/api/sessions/${id}/interrupt`, bearer);
    expect(interrupted.json).toEqual({ interrupted: false });
    const deleted = await house.ask('DELETE', `/admin/api/sessions/${id}`, bearer);
    expect(deleted.json).toEqual({ session_id: id, deleted: true });
    expect((await house.ask('GET', `/api/sessions/${id}`)).status).toBe(404);
    expect((await house.ask('DELETE', `/admin/api/sessions/${id}`, bearer)).status).toBe(404);
  });
});

describe('a conversation', () => {
  const words = 'Is `this` the secret?';

  /** A session with a turn that called a tool. */
  async function talk(session: string): Promise<void> {
    const ended = house.ask('POST', `/api/chat?message=${encodeURIComponent(words)}`, {
      ...{ session, headers: { Prefer: 'wait=30' } },
    });
    (await house.rig.next()).call('call-1', 'nothing', { a: '```' }).end({ inputTokens: 1, outputTokens: 1 });
    (await house.rig.next()).text('It is.').end({ inputTokens: 1, outputTokens: 1 });
    await ended;
  }

  it('is read in pages, and each reading is logged without content', async () => {
    const session = randomUUID();
    await talk(session);
    const last = await get(`/sessions/${session}/messages?limit=1`);
    expect(last).toMatchObject({
      ...{ session: markOf(session), session_id: session, has_more: true },
      messages: [{ role: 'assistant', content: 'It is.' }],
    });
    const id = textOf(listOf(last, 'messages')[0], 'id');
    const earlier = await get(`/sessions/${session}/messages?before=${id}`);
    expect(listOf(earlier, 'messages').map((message) => objectOf(message).role)).toEqual([
      'user',
      'assistant',
    ]);
    const logged = linesOf('the operator read a session');
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatchObject({
      session: markOf(session),
      peer: expect.stringMatching(/127\.0\.0\.1|::1/),
    });
    expect(house.log()).not.toContain(session);
    expect(house.log()).not.toContain('secret');
    const path = `/admin/api/sessions/${session}/messages`;
    expect((await house.ask('GET', `${path}?before=${randomUUID()}`, bearer)).status).toBe(400);
    const unknown = `/admin/api/sessions/${randomUUID()}/messages`;
    expect((await house.ask('GET', unknown, bearer)).status).toBe(404);
    expect(linesOf('the operator read a session')).toHaveLength(2);
  });

  it('is exported as JSON and Markdown', async () => {
    const session = randomUUID();
    await talk(session);
    const path = `/admin/api/sessions/${session}/export`;
    const json = await house.ask('GET', path, bearer);
    expect(json.headers.get('content-disposition')).toBe(
      `attachment; filename=session-${markOf(session)}.json`,
    );
    expect(json.json).toMatchObject({
      session_id: session,
      messages: [{ content: words }, { tool_calls: [{ args: { a: '```' } }] }, { content: 'It is.' }],
    });
    const markdown = await house.ask('GET', `${path}?format=markdown`, bearer);
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(markdown.text).toContain(`\n${words}\n`);
    expect(markdown.text).toContain('\nTool call `nothing`:\n\n````\n{\n  "a": "```"\n}\n````\n');
    expect(markdown.text).toMatch(/## assistant, \d{4}-.*Z\n\nIt is\.\n$/);
    expect(linesOf('the operator exported a session')).toHaveLength(2);
    expect((await house.ask('GET', `${path}?format=pdf`, bearer)).status).toBe(400);
  });

  it('is found by its id, its name in the log, title, wallet, App and client', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await house.ask('POST', `/api/sessions?public_key=0x${'a1'.repeat(20)}`, { session: one });
    await house.ask('POST', '/api/sessions', { session: two });
    await house.ask('PATCH', `/api/sessions/${one}`, { body: { title: 'About Paris' } });
    await house.ask('POST', '/api/secrets', {
      ...{ session: two, body: { client_id: 'a-client-id-of-some-length', secrets: { A: 'b' } } },
    });
    const found = async (query: string) => idsOf(await get(`/sessions?q=${encodeURIComponent(query)}`));
    for (const query of [one, one.slice(0, 8), markOf(one), ' paris', `0x${'A1'.repeat(20)}`]) {
      expect([query, await found(query)]).toEqual([query, [one]]);
    }
    expect(await found('a-client-id-of-some-length')).toEqual([two]);
    expect(await found(randomUUID())).toEqual([]);
    const first = await get('/sessions?q=a&limit=1');
    expect(idsOf(first)).toHaveLength(1);
    expect((await house.ask('GET', `/admin/api/sessions?q=${'x'.repeat(201)}`, bearer)).status).toBe(400);
  });
});

describe('a search in messages', () => {
  /** A session whose user message is the text. */
  async function say(text: string): Promise<string> {
    const session = randomUUID();
    const path = `/api/chat?message=${encodeURIComponent(text)}`;
    const ended = house.ask('POST', path, { session, headers: { Prefer: 'wait=30' } });
    (await house.rig.next()).text('Noted.').end({ inputTokens: 1, outputTokens: 1 });
    await ended;
    return session;
  }

  it('finds text whatever its case, shows where, and is logged without the text', async () => {
    const before = 'word '.repeat(30);
    const needle = await say(`${before}the Golden Needle ${'and hay '.repeat(30)}`);
    await say('Hay alone');
    const page = await get('/search?q=golden+needle');
    expect(page).toMatchObject({
      sessions: [
        { session_id: needle, session: markOf(needle), role: 'user', message_id: expect.any(String) },
      ],
      next: null,
    });
    expect(textOf(listOf(page, 'sessions')[0], 'excerpt')).toMatch(/^….*the Golden Needle .*…$/);
    expect(idsOf(await get('/search?q=noted'))).toHaveLength(2);
    expect(idsOf(await get('/search?q=nowhere'))).toEqual([]);
    expect(linesOf('the operator searched messages').map((line) => objectOf(line).found)).toEqual([1, 2, 0]);
    expect(linesOf('the operator read a message of a session')).toHaveLength(3);
    expect(linesOf('the operator read a message of a session')[0]).toMatchObject({ session: markOf(needle) });
    expect(house.log().toLowerCase()).not.toContain('needle');
    for (const query of ['', '?q=x', `?q=${'x'.repeat(201)}`, '?q=xx&cursor=wrong']) {
      expect((await house.ask('GET', `/admin/api/search${query}`, bearer)).status).toBe(400);
    }
  });

  it('continues where a page ended', async () => {
    const ids = [await say('first match'), await say('second match'), await say('third match')];
    const first = await get('/search?q=match&limit=2');
    const second = await get(`/search?q=match&limit=2&cursor=${textOf(first, 'next')}`);
    expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...ids].sort());
    expect(cursorOf(second)).toBeNull();
  });
});

describe('use', () => {
  it('is shown by App and key, also without limits', async () => {
    const made = (await post({ apps: ['desk'], label: 'web' })).json;
    const headers = { 'SERVICE-APP-KEY': keyOf(made) };
    const session = randomUUID();
    for (const app of ['desk', 'desk', 'default']) {
      const path = `/api/chat?message=Hello&app=${app}`;
      const ended = house.ask('POST', path, { session, headers: { ...headers, Prefer: 'wait=30' } });
      (await house.rig.next()).text('Hi').end({ inputTokens: 10, outputTokens: 3 });
      await ended;
    }
    const uses = await get('/uses?days=2');
    expect(uses).toMatchObject({ days: 2 });
    const work = listOf(uses, 'work').map((row) => objectOf(row));
    expect(work.map(({ app, turns, input_tokens }) => [app, turns, input_tokens])).toEqual([
      ['desk', 2, 20],
      ['default', 1, 10],
    ]);
    expect((await house.ask('GET', '/admin/api/uses?days=401', bearer)).status).toBe(400);
  });

  it('is shown beside its limit', async () => {
    const session = randomUUID();
    await send(session);
    expect((await get('/uses')).uses).toEqual([
      {
        ...{ kind: 'session', id: session, measure: 'turns', amount: 1, limit: 7 },
        session: markOf(session),
        window_from: expect.stringMatching(/T00:00:00.000Z$/),
      },
    ]);
  });
});

describe('secrets', () => {
  it('are counted by App, without a name, a value or a client', async () => {
    expect(await get('/secrets')).toEqual({ apps: [], max_bytes: 67_108_864 });
    const body = { client_id: 'a-client-id-of-some-length', secrets: { TOKEN: 'tok-1', KEY: 'key-1' } };
    await house.ask('POST', '/api/secrets', { body });
    const answer = await house.ask('GET', '/admin/api/secrets', bearer);
    expect(answer.json).toMatchObject({ apps: [{ app: 'default', secrets: 2 }] });
    expect(answer.text).not.toMatch(/TOKEN|KEY|client/);
  });
});

describe('the report of the legacy API', () => {
  it('names who used it, and judges', async () => {
    const session = randomUUID();
    expect(await get('/report')).toMatchObject({ days: 30, users: [], verdict: { kind: 'too_early' } });
    const headers = { 'User-Agent': 'WalletApp/2.1' };
    await house.ask('POST', '/legacy/api/sessions', { session, headers });
    await house.ask('GET', '/current/api/state', { session, headers });
    const report = await get('/report?days=7');
    expect(report).toMatchObject({
      days: 7,
      users: [
        { name: 'WalletApp', requests: 1, endpoints: [{ endpoint: 'POST /api/sessions', requests: 1 }] },
      ],
      verdict: { kind: 'used', text: expect.stringContaining('WalletApp') },
    });
    expect(listOf(report, 'history').at(-1)).toMatchObject({ current: 1, legacy: 1 });
    for (const wrong of ['days=0', 'format=xml']) {
      expect((await house.ask('GET', `/admin/api/report?${wrong}`, bearer)).status).toBe(400);
    }
  });

  it('counts sites by their origin, and not the service’s own page', async () => {
    const session = randomUUID();
    const browser = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)' };
    const use = (headers: Record<string, string>, path = '/legacy/api/session/models') =>
      house.ask('GET', path, { session, headers: { ...browser, ...headers } });
    await use({ Origin: 'https://App.example.org:8443' });
    await use({ Origin: 'null' });
    await use({ 'Diptych-Page': '1' });
    await use({ 'Diptych-Page': '1' }, '/api/sessions?public_key=0x1');
    await use({ 'Diptych-Page': '1' }, '/current/api/state');
    const report = await get('/report');
    const clients = listOf(report, 'users').map((user) => textOf(user, 'client'));
    expect(clients.sort()).toEqual(['Mozilla', 'https://app.example.org:8443']);
    expect(listOf(report, 'history').at(-1)).toMatchObject({ current: 0, legacy: 2 });
  });

  it('can be had as CSV', async () => {
    const session = randomUUID();
    const made = (await post({ apps: ['desk'], label: '=1+1, "mobile"' })).json;
    const headers = { 'User-Agent': 'WalletApp/2.1', 'X-API-Key': keyOf(made) };
    await house.ask('POST', '/legacy/api/sessions', { session, headers });
    const answer = await house.ask('GET', '/admin/api/report?format=csv', bearer);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, line = '', end] = answer.text.split('\r\n');
    expect(head).toBe('client,key_id,key_label,endpoint,requests,first_at,last_at');
    const start = `WalletApp,${idOf(made)},"'=1+1, ""mobile""",POST /api/sessions,1,`;
    expect(line.slice(0, start.length)).toBe(start);
    expect(line.slice(start.length)).toMatch(/^\d{4}-[^,]+Z,\d{4}-[^,]+Z$/);
    expect(end).toBe('');
  });
});

describe('App keys', () => {
  it('are made, shown once, used and revoked', async () => {
    const made = objectOf((await post({ apps: ['desk'], label: 'web', expires_in_days: 30 })).json);
    expect(made).toEqual({
      ...{ key: expect.stringMatching(/^sk-app-/), id: expect.any(String), apps: ['desk'], label: 'web' },
      ...{ created_at: expect.stringMatching(ISO), expires_at: expect.stringMatching(ISO) },
    });
    const use = () =>
      house.ask('GET', '/api/tools?app=desk', { headers: { 'SERVICE-APP-KEY': keyOf(made) } });
    expect((await use()).status).toBe(200);
    const listed = await house.ask('GET', '/admin/api/keys', bearer);
    expect(listed.json).toMatchObject({ keys: [{ id: made.id, status: 'active', revoked_at: null }] });
    expect(listed.text).not.toContain(keyOf(made));
    const revoked = await house.ask('DELETE', `/admin/api/keys/${idOf(made)}`, bearer);
    expect(revoked.json).toEqual({ id: made.id, revoked: true });
    expect(await get('/keys')).toMatchObject({ keys: [{ id: made.id, status: 'revoked' }] });
    // Here it holds at once.
    expect((await use()).status).toBe(401);
    expect(house.log()).not.toContain(keyOf(made));
  });

  it.each([
    [{}],
    [{ apps: [] }],
    [{ apps: 'desk' }],
    [{ apps: [5] }],
    [{ apps: ['nowhere'] }],
    [{ apps: ['desk'], expires_in_days: 0 }],
    [{ apps: ['desk'], expires_in_days: '30' }],
    [{ apps: ['desk'], label: 'x'.repeat(101) }],
  ])('are not made from %j', async (body) => {
    expect((await post(body)).status).toBe(400);
    expect(await get('/keys')).toEqual({ keys: [] });
  });

  it('that there are not are not revoked', async () => {
    expect((await house.ask('DELETE', '/admin/api/keys/none', bearer)).status).toBe(404);
  });
});

/** The name of a session in the log. */
const markOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 8);

/** The lines of the log with this message. */
function linesOf(message: string): readonly Record<string, unknown>[] {
  const lines = house.log().split('\n').filter(Boolean);
  return lines.map((line) => objectOf(JSON.parse(line))).filter(({ msg }) => msg === message);
}

function listOf(json: Record<string, unknown>, name: string): readonly unknown[] {
  const value = json[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value;
}

function textOf(json: unknown, name: string): string {
  const value = objectOf(json)[name];
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}

const pointsOf = (json: Record<string, unknown>) => listOf(json, 'points');
const idsOf = (json: Record<string, unknown>) =>
  listOf(json, 'sessions').map((session) => textOf(session, 'session_id'));
const cursorOf = (json: unknown) => objectOf(json).next;
const turnIdOf = (json: Record<string, unknown>) => textOf(listOf(json, 'turns')[0], 'turn_id');
const keyOf = (json: unknown) => textOf(json, 'key');
const idOf = (json: unknown) => textOf(json, 'id');
