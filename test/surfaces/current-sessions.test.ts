import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../../src/core/model/json.js';
import { serveScripted } from '../support/http.js';
import { ISO_TIME, listOf, messagesOf } from '../support/snapshot.js';
import { getTime, stumble } from '../support/tools.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ surfaces: ['current'], tools: [getTime, stumble] });
  session = randomUUID();
});
afterEach(() => server.close());

/** Makes a thread of a wallet. */
async function create(wallet?: string, id: string = randomUUID()): Promise<string> {
  await server.ask('POST', '/api/sessions', {
    session: id,
    ...(wallet === undefined ? {} : { body: { public_key: wallet } }),
  });
  return id;
}

describe('a deleted session', () => {
  it.each([
    ['GET', '/api/state'],
    ['POST', '/api/interrupt'],
    ['GET', '/api/updates'],
    ['GET', '/api/events'],
    ['GET', '/api/control/models'],
  ])('is not found by what only reads: %s %s', async (method, path) => {
    await create(undefined, session);
    await server.ask('DELETE', `/api/sessions/${session}`);
    expect((await server.ask(method, path, { session })).status).toBe(404);
  });

  it.each([
    ['GET', '/api/control/apps'],
    ['GET', '/api/tools'],
    ['GET', '/api/sessions?public_key=w'],
  ])('stays so where the session is not what is asked for: %s %s', async (method, path) => {
    await create(undefined, session);
    await server.ask('DELETE', `/api/sessions/${session}`);
    const { status } = await server.ask(method, path, { session });
    expect(status).toBe(200);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });
});

describe('POST /api/system for a deleted session', () => {
  it.each(['Hello', '{"type":"wallet:state_changed","payload":{"address":"0x1"}}'])(
    'creates a new one, as a message does: %s',
    async (message) => {
      await server.ask('POST', '/api/chat?message=Hi', { session });
      (await server.rig.next()).text('Hi').end();
      await server.ask('DELETE', `/api/sessions/${session}`);
      expect((await server.ask('POST', '/api/system', { session, body: { message } })).status).toBe(200);
      const { status, json } = await server.ask('GET', '/api/state', { session });
      expect([status, messagesOf(json).map(({ content }) => content)]).toEqual([
        200,
        message === 'Hello' ? ['Hello'] : [],
      ]);
    },
  );
});

describe('the archive', () => {
  it('takes a thread in and gives it back, again and again', async () => {
    await create('w', session);
    const other = await create('w');
    for (const [path, is_archived] of [
      ['archive', true],
      ['archive', true],
      ['unarchive', false],
      ['unarchive', false],
      ['archive', true],
    ] as const) {
      const { status, json } = await server.ask('POST', `/api/sessions/${session}/${path}`);
      expect([path, status, json]).toEqual([path, 200, { session_id: session, is_archived }]);
      expect(await server.store.loadThread(session)).toMatchObject({ session: { archived: is_archived } });
    }
    expect(await server.store.loadThread(other)).toMatchObject({ session: { archived: false } });
    // It stays readable and usable, and other surfaces' documented responses do not change.
    const listed = await server.ask('GET', '/api/sessions?public_key=w', { session });
    expect(listed.json).toHaveLength(2);
    expect(listed.json).toContainEqual({ session_id: session, title: 'New Chat' });
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(200);
    expect((await server.ask('POST', '/api/chat?message=Hi', { session })).status).toBe(200);
    (await server.rig.next()).text('Hi').end();
  });

  it.each(['archive', 'unarchive'])('knows no session that is unknown or deleted: %s', async (path) => {
    const ask = () => server.ask('POST', `/api/sessions/${session}/${path}`);
    const unknown = await ask();
    expect([unknown.status, unknown.json]).toMatchObject([404, { code: 'not_found' }]);
    await create(undefined, session);
    await server.ask('DELETE', `/api/sessions/${session}`);
    expect((await ask()).status).toBe(404);
  });
});

describe('POST /api/sessions', () => {
  it('answers with the session, again and again', async () => {
    for (let i = 0; i < 2; i++) {
      const { status, json } = await server.ask('POST', '/api/sessions', { session: session.toUpperCase() });
      expect([status, json]).toEqual([200, { session_id: session, title: 'New Chat' }]);
    }
  });

  it('binds the wallet of the body, or of the query', async () => {
    await create('0xABCDEFabcdef00112233445566778899aabbccdd', session);
    const listed = await server.ask(
      'GET',
      '/api/sessions?public_key=0xabcdefabcdef00112233445566778899AABBCCDD',
      {
        session,
      },
    );
    expect(listed.json).toEqual([{ session_id: session, title: 'New Chat' }]);
    await server.ask('POST', '/api/sessions?public_key=other', { session });
    const moved = await server.ask('GET', '/api/sessions?public_key=other', { session });
    expect(moved.json).toEqual([{ session_id: session, title: 'New Chat' }]);
  });

  it.each([
    ['{"public_key":', 'the request body is not valid JSON'],
    ['[]', 'the request body must be a JSON object'],
    ['"w"', 'the request body must be a JSON object'],
    ['{"public_key":5}', 'public_key must be given once, as text'],
    [JSON.stringify({ public_key: 'w'.repeat(129) }), expect.stringContaining('public_key')],
  ])('refuses the body %s', async (body, error) => {
    const { status, json } = await server.ask('POST', '/api/sessions', { session, body });
    expect(status).toBe(400);
    expect(json).toMatchObject({ error, code: 'invalid' });
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });

  it('takes an empty body, null for no wallet, and needs no body when the query has it', async () => {
    for (const body of ['', ' \r\n', 'null', '{}', '{"public_key":null}']) {
      expect((await server.ask('POST', '/api/sessions', { session, body })).status).toBe(200);
    }
    const { status } = await server.ask('POST', '/api/sessions?public_key=w', { session, body: '{' });
    expect(status).toBe(200);
  });
});

describe('/api/sessions/{id}', () => {
  it('answers 404 for an unknown id, whatever header comes with it', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { title: 'T' } : undefined;
      const { status, json } = await server.ask(method, `/api/sessions/${randomUUID()}`, {
        session: 'no uuid',
        body,
      });
      expect([method, status]).toEqual([method, 404]);
      expect(json).toEqual({ error: expect.any(String), code: 'not_found', request_id: expect.any(String) });
    }
  });

  it.each(['x', '123', '%20', 'a%2Fb'])('answers 400 for the malformed id %s', async (id) => {
    for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/messages`]) {
      const { status, json } = await server.ask('GET', path);
      expect(status).toBe(400);
      expect(json).toMatchObject({ error: 'id must be a UUID', details: [{ path: 'id' }] });
    }
  });

  it('answers 400 for a path that is not valid percent-encoding', async () => {
    const { status, json } = await server.ask('GET', '/api/sessions/%zz');
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid', request_id: expect.any(String) });
  });

  it('renames', async () => {
    await create(undefined, session);
    const { status, json } = await server.ask('PATCH', `/api/sessions/${session}`, {
      body: { title: '  Mine  ' },
    });
    expect([status, json]).toEqual([200, { session_id: session, title: 'Mine' }]);
    expect((await server.ask('GET', `/api/sessions/${session}`)).json).toEqual({
      session_id: session,
      title: 'Mine',
    });
  });

  it.each(['', '{', '[]', '{}', '{"title":7}', '{"title":" "}', JSON.stringify({ title: 'x'.repeat(201) })])(
    'refuses the title in %s',
    async (body) => {
      await create(undefined, session);
      const { status, json } = await server.ask('PATCH', `/api/sessions/${session}?title=query`, { body });
      expect(status).toBe(400);
      expect(json).toMatchObject({ code: 'invalid' });
    },
  );

  it('deletes', async () => {
    await create('w', session);
    const { status, json } = await server.ask('DELETE', `/api/sessions/${session}`);
    expect([status, json]).toEqual([200, { session_id: session, deleted: true }]);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
    expect((await server.ask('DELETE', `/api/sessions/${session}`)).status).toBe(404);
    expect((await server.ask('GET', '/api/sessions?public_key=w', { session: randomUUID() })).json).toEqual(
      [],
    );
  });
});

describe('GET /api/sessions', () => {
  it('goes through the threads of a wallet by its Link header, newest first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift(await create('My wallet'));
    const seen: unknown[] = [];
    let path: string | undefined = '/api/sessions?public_key=My%20wallet&limit=2';
    let pages = 0;
    while (path !== undefined) {
      const { status, json, headers } = await server.ask('GET', path, { session });
      expect(status).toBe(200);
      seen.push(...listOf(json));
      pages++;
      path = /^<(\/api\/sessions\?[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(pages).toBe(3);
    expect(seen).toHaveLength(5);
    expect(new Set(seen.map((thread) => JSON.stringify(thread)))).toEqual(
      new Set(ids.map((id) => JSON.stringify({ session_id: id, title: 'New Chat' }))),
    );
  });

  it.each([
    ['', 'public_key'],
    ['?public_key=', 'public_key'],
    ['?public_key=a&public_key=b', 'public_key'],
    ['?public_key=a&limit=0', 'limit'],
    ['?public_key=a&limit=1001', 'limit'],
    ['?public_key=a&limit=ten', 'limit'],
    ['?public_key=a&cursor=nonsense', 'cursor'],
  ])('refuses %s', async (query, path) => {
    const { status, json } = await server.ask('GET', `/api/sessions${query}`, { session });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid', details: [{ path }] });
  });
});

describe('GET /api/sessions/{id}/messages', () => {
  beforeEach(async () => {
    const whole = server.ask('POST', '/api/chat?message=What%20time%3F', {
      session,
      headers: { Prefer: 'wait=60' },
    });
    (await server.rig.next()).text('Let me see.').call('c1', 'get_time', { zone: 'UTC' }).end();
    (await server.rig.next()).text('Noon.').end();
    await whole;
  });

  it('answers with the records, with exactly their fields', async () => {
    const { status, json } = await server.ask('GET', `/api/sessions/${session}/messages`);
    const common = { id: expect.any(String), session_id: session, thread_id: session, created_at: ISO_TIME };
    const record = (role: string, content: string, calls: unknown = null, results: unknown = null) => ({
      ...{ ...common, role, content, tool_calls: calls, tool_results: results },
    });
    expect(status).toBe(200);
    expect(json).toEqual({
      messages: [
        record('user', 'What time?'),
        record(
          'assistant',
          'Let me see.',
          [{ call_id: 'c1', name: 'get_time', args: { zone: 'UTC' } }],
          [{ call_id: 'c1', name: 'get_time', result: { time: '12:00', zone: 'UTC' } }],
        ),
        record('assistant', 'Noon.'),
      ],
      has_more: false,
    });
  });

  it('marks a failed call', async () => {
    const asked = server.ask('POST', '/api/chat?message=Walk', { session, headers: { Prefer: 'wait=60' } });
    (await server.rig.next()).call('c2', 'stumble').call('c3', 'get_time', { zone: 'UTC' }).end();
    (await server.rig.next()).text('I fell.').end();
    await asked;
    const { json } = await server.ask('GET', `/api/sessions/${session}/messages?limit=2`);
    if (!isJsonObject(json)) throw new Error('no page');
    const results = messagesOf(json)[0]?.tool_results;
    expect(results).toHaveLength(2);
    expect(results).toEqual(
      expect.arrayContaining([
        { call_id: 'c2', name: 'stumble', result: 'the ground was uneven', status: 'failed' },
        { call_id: 'c3', name: 'get_time', result: { time: '12:00', zone: 'UTC' } },
      ]),
    );
  });

  it('goes back page by page, each in order', async () => {
    const contents: unknown[] = [];
    let before = '';
    for (let more = true; more;) {
      const { json } = await server.ask('GET', `/api/sessions/${session}/messages?limit=2${before}`);
      if (!isJsonObject(json)) throw new Error('no page');
      const messages = messagesOf(json);
      contents.push(messages.map(({ content }) => content));
      const id = messages[0]?.id;
      before = typeof id === 'string' ? `&before=${id}` : '';
      more = json.has_more === true;
    }
    expect(contents).toEqual([['Let me see.', 'Noon.'], ['What time?']]);
  });

  it('refuses what is no page', async () => {
    for (const query of ['limit=0', 'limit=1001', 'before=x']) {
      expect((await server.ask('GET', `/api/sessions/${session}/messages?${query}`)).status).toBe(400);
    }
    const unknown = await server.ask('GET', `/api/sessions/${session}/messages?before=${randomUUID()}`);
    expect([400, 404]).toContain(unknown.status);
    expect((await server.ask('GET', `/api/sessions/${randomUUID()}/messages`)).status).toBe(404);
  });
});
