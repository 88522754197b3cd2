import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { RigError } from '../../src/core/ports/rig.js';
import { collectUntil, created, testApp } from '../support/core.js';
import { serveScripted, type Answer, type AskOptions } from '../support/http.js';
import { messagesOf, said } from '../support/snapshot.js';
import { grantKey } from '../support/keys.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ surfaces: ['current'], apps: [testApp(), testApp({ name: 'paid' })] });
  session = randomUUID();
});
afterEach(() => server.close());

function send(query: Record<string, string>, options: AskOptions = {}): Promise<Answer> {
  return server.ask('POST', `/api/chat?${new URLSearchParams(query).toString()}`, { session, ...options });
}

function state(query = '', headers: Record<string, string> = {}): Promise<Answer> {
  return server.ask('GET', `/api/state${query}`, { session, headers });
}

/** Has a message answered, and waits for the end of its turn. */
async function talk(message: string, answer: string): Promise<Answer> {
  const whole = send({ message }, { headers: { Prefer: 'wait=60' } });
  (await server.rig.next()).text(answer).end();
  return whole;
}

describe('POST /api/chat', () => {
  it('answers at once with the snapshot that has the message', async () => {
    const { status, headers, json, text } = await send({ message: 'Hello there & 你好' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-event-cursor')).toBe('0');
    expect(json).toEqual({
      messages: [said('user', 'Hello there & 你好')],
      system_events: [],
      title: 'New Chat',
      is_processing: true,
      user_state: null,
    });
    const order = /^\{"messages":.*,"system_events":.*,"title":.*,"is_processing":.*,"user_state":.*\}$/;
    expect(text).toMatch(order);
    expect(text).toContain('{"sender":"user","content":"Hello there & 你好","timestamp":"');
  });

  it('names the turn that a message started, and the same one for a repeat', async () => {
    const key = { headers: { 'Idempotency-Key': 'k' } };
    const ids = [
      await send({ message: 'one' }, key),
      await send({ message: 'one' }, key),
      await send({ message: 'two' }),
    ].map(({ headers }) => headers.get('x-turn-id'));
    expect(ids[0]).toMatch(/^[\da-f-]{36}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('waits for the end of the turn when asked to', async () => {
    const { status, headers, json } = await talk('Hi', 'Hello!');
    expect(status).toBe(200);
    expect(headers.get('preference-applied')).toBe('wait=60');
    expect(json).toMatchObject({
      messages: [said('user', 'Hi'), said('agent', 'Hello!')],
      is_processing: false,
    });
  });

  it('waits no longer than asked', async () => {
    const { headers, json } = await send({ message: 'Hi' }, { headers: { Prefer: 'respond-async, wait=0' } });
    expect(headers.get('preference-applied')).toBe('wait=0');
    expect(json).toMatchObject({ is_processing: true });
  });

  it('says which wait it applied when more was asked for', async () => {
    const whole = send({ message: 'Hi' }, { headers: { Prefer: 'wait="900"' } });
    (await server.rig.next()).end();
    expect((await whole).headers.get('preference-applied')).toBe('wait=60');
  });

  it('answers 410 when the thread is deleted while it waits', async () => {
    const waiting = send({ message: 'Hi' }, { headers: { Prefer: 'wait=60' } });
    const asked = await server.rig.next();
    const deleted = await server.ask('DELETE', `/api/sessions/${session}`);
    expect(deleted.status).toBe(200);
    const { status, json } = await waiting;
    expect(status).toBe(410);
    expect(json).toMatchObject({ code: 'gone', error: expect.stringContaining('was accepted') });
    await asked.left;
    expect((await state()).status).toBe(404);
  });

  it('answers 410 when the thread is deleted and used again while it waits', async () => {
    const waiting = send({ message: 'Hi' }, { headers: { Prefer: 'wait=60' } });
    await server.rig.next();
    await server.ask('DELETE', `/api/sessions/${session}`);
    await send({ message: 'Again' });
    expect((await waiting).status).toBe(410);
    expect(messagesOf((await state()).json)).toMatchObject([{ content: 'Again' }]);
  });

  it.each(['wait', 'wait=soon', 'wait=-1', 'return=minimal'])('ignores Prefer: %s', async (prefer) => {
    const { status, headers } = await send({ message: 'Hi' }, { headers: { Prefer: prefer } });
    expect(status).toBe(200);
    expect(headers.has('preference-applied')).toBe(false);
  });

  it('stops waiting when the client goes', async () => {
    const gone = new AbortController();
    const updates = await server.core.updates(created(session), { after: null, turns: true });
    const url = `${server.url}/api/chat?message=Hi`;
    const headers = { 'X-Session-Id': session, Prefer: 'wait=60' };
    const whole = fetch(url, { method: 'POST', headers, signal: gone.signal });
    const asked = await server.rig.next();
    gone.abort();
    await expect(whole).rejects.toThrow();
    asked.text('All the same').end();
    await collectUntil(updates, ({ type }) => type === 'turn_ended');
    await expect(state().then(({ json }) => messagesOf(json))).resolves.toContainEqual(
      expect.objectContaining({ content: 'All the same' }),
    );
  });

  it('takes parameters from a JSON body where the query lacks them, whatever its content type', async () => {
    const body = { message: 'From the body', public_key: 'wallet-1', user_state: { evm: { chain_id: 1 } } };
    const { status, json } = await send({}, { body, headers: { 'Content-Type': 'text/plain' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      messages: [said('user', 'From the body')],
      user_state: { evm: { chain_id: 1 } },
    });
    const listed = await server.ask('GET', '/api/sessions?public_key=wallet-1', { session });
    expect(listed.json).toEqual([{ session_id: session, title: 'New Chat' }]);
  });

  it('prefers the query to the body', async () => {
    const { json } = await send({ message: 'query' }, { body: { message: 'body' } });
    expect(messagesOf(json)).toEqual([said('user', 'query')]);
  });

  it.each([
    ['malformed', '{"message":'],
    ['an array', '["message"]'],
    ['a form', 'message=body'],
    ['too large', 'x'.repeat(1_100_000)],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0x22])],
  ])('lets no stray body fail a whole query: %s', async (_, body) => {
    const response = await fetch(`${server.url}/api/chat?message=query`, {
      method: 'POST',
      headers: { 'X-Session-Id': session, 'Content-Type': 'application/json' },
      body,
    });
    expect(response.status).toBe(200);
    expect(messagesOf(await response.json())).toEqual([said('user', 'query')]);
  });

  it.each([
    ['malformed', '{"message":', 400, 'the request body is not valid JSON'],
    ['not an object', '["message"]', 400, 'the request body must be a JSON object'],
    [
      'too large',
      JSON.stringify({ message: 'x'.repeat(1_048_576) }),
      413,
      expect.stringContaining('the request body is larger than'),
    ],
  ])('refuses a body that is needed and %s', async (_, body, status, error) => {
    const answer = await send({}, { body });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error, code: status === 413 ? 'payload_too_large' : 'invalid' });
  });

  it.each([
    [{}, 'message is required: the text of the user message'],
    [{ message: '' }, 'message must not be blank'],
    [{ message: ' \n\t ' }, 'message must not be blank'],
    [{ message: 'Hi', user_state: '{' }, 'user_state must be a JSON-encoded object'],
    [{ message: 'Hi', user_state: '[]' }, 'user_state must be a JSON-encoded object'],
  ])('refuses %j', async (query, error) => {
    const { status, json } = await send(query);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error, code: 'invalid', details: [{ message: error }] });
    expect(messagesOf((await state()).json)).toEqual([]);
  });

  it('refuses a known field of the user state that has the wrong type, and stores nothing', async () => {
    const { status, json } = await send({ message: 'Hi', user_state: '{"evm":{"chain_id":true}}' });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid', details: [{ path: 'user_state.evm.chain_id' }] });
    expect((await state()).json).toMatchObject({ messages: [], user_state: null });
  });

  it('takes a user state of null for none', async () => {
    expect((await send({ message: 'Hi', user_state: 'null' })).status).toBe(200);
  });

  it('refuses a parameter that is given twice', async () => {
    const { status, json } = await server.ask('POST', '/api/chat?message=a&message=b', { session });
    expect(status).toBe(400);
    expect(json).toMatchObject({
      error: 'message must be given once, as text',
      details: [{ path: 'message' }],
    });
  });

  it('lists everything that is wrong', async () => {
    const { json } = await server.ask('POST', '/api/chat?app=a&app=b', {});
    expect(json).toMatchObject({
      details: [{ path: 'X-Session-Id' }, { path: 'message' }, { path: 'app' }],
    });
  });

  it('takes a message of 64 KiB in the URL, and refuses a longer one with 400', async () => {
    const long = '✓'.repeat(21_845);
    expect((await send({ message: long })).status).toBe(200);
    const { status, json } = await send({ message: `${long}✓` });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid' });
  });

  it('starts one turn for one idempotency key, and refuses the key for another message', async () => {
    const headers = { 'Idempotency-Key': 'k-1' };
    await send({ message: 'Once' }, { headers });
    const again = await send({ message: 'Once' }, { headers });
    expect(messagesOf(again.json)).toEqual([said('user', 'Once')]);
    const other = await send({ message: 'Twice' }, { headers });
    expect(other.status).toBe(422);
    expect(other.json).toMatchObject({ code: 'key_reused' });
    const tooLong = await send({ message: 'Once' }, { headers: { 'Idempotency-Key': 'k'.repeat(256) } });
    expect(tooLong.status).toBe(400);
  });

  it('asks for a key for any other App than the default one', async () => {
    const paid = await grantKey(server.store, ['paid']);
    const other = await grantKey(server.store, ['other']);
    const statusWith = async (app: string, key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { 'SERVICE-APP-KEY': key };
      const { status, json } = await send({ message: 'Hi', app }, { headers });
      return [status, json];
    };
    expect(await statusWith('paid')).toEqual([401, expect.objectContaining({ code: 'unauthenticated' })]);
    expect(await statusWith('paid', 'sk-app-wrong')).toEqual([401, expect.anything()]);
    expect(await statusWith('paid', other)).toEqual([403, expect.objectContaining({ code: 'forbidden' })]);
    expect(await statusWith('none-such', paid)).toEqual([403, expect.anything()]);
    expect(await statusWith('paid', paid)).toEqual([200, expect.anything()]);
    expect(await statusWith('default', 'sk-app-wrong')).toEqual([200, expect.anything()]);
  });

  it('refuses with 429 when too many messages wait', async () => {
    await server.close();
    server = await serveScripted({ settings: { maxQueued: 0 } });
    await send({ message: 'One' });
    const { status, headers, json } = await send({ message: 'Two' });
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(json).toMatchObject({ code: 'too_many' });
  });

  it('refuses with 409 when its App rejects messages to a busy thread', async () => {
    await server.close();
    server = await serveScripted({ settings: { busyStrategy: 'reject' } });
    await send({ message: 'One' });
    const { status, json } = await send({ message: 'Two' });
    expect(status).toBe(409);
    expect(json).toMatchObject({ code: 'busy' });
  });
});

describe('GET /api/state', () => {
  it('creates the session of an unknown id', async () => {
    const { status, json } = await state();
    expect(status).toBe(200);
    expect(json).toEqual({
      messages: [],
      system_events: [],
      title: 'New Chat',
      is_processing: false,
      user_state: null,
    });
    const found = await server.ask('GET', `/api/sessions/${session.toUpperCase()}`);
    expect(found.json).toEqual({ session_id: session, title: 'New Chat' });
  });

  it('shows text in flight as the one streaming message, and tool outcomes', async () => {
    await send({ message: 'Hi' });
    const asked = await server.rig.next();
    expect(messagesOf((await state()).json)).toEqual([said('user', 'Hi')]);
    asked.call('c1', 'no_such_tool');
    asked.end();
    const next = await server.rig.next();
    next.text('Half');
    const stream = await server.core.watchTurn({
      sessionId: session,
      turnId: await openTurnId(),
      repeated: false,
    });
    await collectUntil(stream, ({ type }) => type === 'text');
    const { messages } = { messages: messagesOf((await state()).json) };
    expect(messages).toEqual([
      said('user', 'Hi'),
      said('agent', '', { tool_result: ['no_such_tool', expect.any(String)] }),
      said('agent', 'Half', { is_streaming: true }),
    ]);
  });

  it('merges the user state it is given, and shows every kept key', async () => {
    const nested = { connection: { is_connected: true }, evm: { address: '0xabc' }, extra: { a: [1] } };
    const first = await state(`?user_state=${encodeURIComponent(JSON.stringify(nested))}`);
    expect(first.json).toMatchObject({ user_state: nested });
    const flat = await state(`?user_state=${encodeURIComponent('{"chain_id":"0x89"}')}`);
    expect(flat.json).toMatchObject({
      user_state: {
        connection: { is_connected: true },
        evm: { address: '0xabc', chain_id: '0x89' },
        extra: { a: [1] },
        address: '0xabc',
        chain_id: '0x89',
        is_connected: true,
      },
    });
  });

  it('answers 304 while nothing has changed', async () => {
    // A person's title, so that none is made in the background.
    await server.ask('POST', '/api/sessions', { session });
    await server.ask('PATCH', `/api/sessions/${session}`, { body: { title: 'Mine' } });
    await talk('Hi', 'Hello!');
    const { headers, text } = await state();
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w.-]+"$/);
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const same = await state('', { 'If-None-Match': known });
      expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag]);
      for (const name of ['x-event-cursor', 'vary', 'cache-control'])
        expect([name, same.headers.get(name)]).toEqual([name, headers.get(name)]);
    }
    expect((await state('', { 'If-None-Match': '"other"' })).text).toBe(text);
    expect((await state('?tail=1', { 'If-None-Match': etag })).status).toBe(200);
    await server.ask('PATCH', `/api/sessions/${session}`, { body: { title: 'Ours' } });
    const renamed = await state('', { 'If-None-Match': etag });
    expect([renamed.status, renamed.headers.get('etag') === etag]).toEqual([200, false]);
    expect(renamed.headers.get('x-event-cursor')).not.toBe(headers.get('x-event-cursor'));
    const newer = renamed.headers.get('etag') ?? '';
    expect((await state('', { 'If-None-Match': newer })).status).toBe(304);
    await send({ message: 'More' });
    expect((await state('', { 'If-None-Match': newer })).status).toBe(200);
  });

  it('has other tags for other sessions', async () => {
    const mine = await state();
    const theirs = await server.ask('GET', '/api/state', { session: randomUUID() });
    expect(theirs.headers.get('etag')).not.toBe(mine.headers.get('etag'));
    expect(mine.headers.get('vary')).toContain('X-Session-Id');
  });

  it('shows only the last messages when asked to', async () => {
    await talk('1', 'one');
    await talk('2', 'two');
    await send({ message: '3' });
    const contents = async (tail: string) => {
      const { json, headers } = await state(`?tail=${tail}`);
      expect(headers.get('x-total-messages')).toBe('5');
      return messagesOf(json).map(({ content }) => content);
    };
    expect(await contents('0')).toEqual([]);
    expect(await contents('1')).toEqual(['3']);
    expect(await contents('2')).toEqual(['two', '3']);
    expect(await contents('4')).toEqual(['one', '2', 'two', '3']);
    expect(await contents('5')).toEqual(['1', 'one', '2', 'two', '3']);
    expect(await contents('9007199254740991')).toEqual(['1', 'one', '2', 'two', '3']);
  });

  it.each(['-1', '1.5', 'x', '99999999999999999999', '1&tail=2'])('refuses tail=%s', async (tail) => {
    const { status, json } = await state(`?tail=${tail}`);
    expect(status).toBe(400);
    expect(json).toMatchObject({ details: [{ path: 'tail' }] });
  });

  it('answers HEAD with the headers of GET', async () => {
    await server.ask('POST', '/api/sessions', { session });
    const names = [
      'content-type',
      'content-length',
      'etag',
      'vary',
      'cache-control',
      'x-event-cursor',
      'x-total-messages',
    ];
    const { headers: whole } = await state();
    const head = await server.ask('HEAD', '/api/state', { session });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(names.map((name) => head.headers.get(name))).toEqual(names.map((name) => whole.get(name)));
    expect(names.filter((name) => !whole.has(name))).toEqual([]);
  });

  it('carries each system error once, and again when the answer had no body', async () => {
    await send({ message: 'Hi' });
    const asked = await server.rig.next();
    asked.fail(new RigError('The model is not available: try another one.', { retryable: false }));
    await asked.left;
    const failed = [{ SystemError: expect.stringContaining('The model is not available') }];
    const listed = async () => (await server.ask('GET', '/api/events', { session })).json;
    await settledTurn();
    await server.ask('HEAD', '/api/state', { session });
    const first = await state('', { 'If-None-Match': '*' });
    expect(first.status).toBe(200);
    expect(first.json).toMatchObject({ system_events: failed, is_processing: false });
    expect((await state()).json).toMatchObject({ system_events: [] });
    expect(await listed()).toEqual(failed);
    expect(messagesOf((await state()).json)).toEqual([
      said('user', 'Hi'),
      said('system', expect.stringContaining('The model is not available')),
    ]);
  });
});

describe('POST /api/interrupt', () => {
  it('cancels what runs and what waits, and answers with the final snapshot', async () => {
    await send({ message: 'One' });
    await send({ message: 'Two' });
    const asked = await server.rig.next();
    asked.text('Half of ');
    const turnId = await openTurnId();
    const stream = await server.core.watchTurn({ sessionId: session, turnId, repeated: false });
    await collectUntil(stream, ({ type }) => type === 'text');
    const { status, json } = await server.ask('POST', '/api/interrupt', { session });
    expect(status).toBe(200);
    expect(json).toEqual({
      messages: [said('user', 'One'), said('agent', 'Half of '), said('user', 'Two')],
      system_events: [],
      title: expect.any(String),
      is_processing: false,
      user_state: null,
    });
    expect(asked.signal.aborted).toBe(true);
  });

  it('leaves an idle session as it is', async () => {
    const before = await state();
    const { status, text } = await server.ask('POST', '/api/interrupt', { session });
    expect([status, text]).toEqual([200, before.text]);
  });
});

describe('X-Session-Id', () => {
  it.each(['', 'nonsense', '123', '{00000000-0000-4000-8000-000000000000}'])('refuses %j', async (id) => {
    for (const [method, path] of [
      ['POST', '/api/chat?message=Hi'],
      ['GET', '/api/state'],
      ['POST', '/api/interrupt'],
      ['GET', '/api/updates'],
      ['GET', '/api/events'],
      ['GET', '/api/control/apps'],
      ['GET', '/api/sessions?public_key=w'],
      ['POST', '/api/sessions'],
      ['POST', '/api/control/model?rig=scripted'],
      ['GET', '/api/control/models'],
    ] as const) {
      const { status, json } = await server.ask(method, path, { session: id });
      expect([path, status]).toEqual([path, 400]);
      expect(json).toMatchObject({ code: 'invalid', details: [{ path: 'X-Session-Id' }] });
    }
  });

  it('takes a UUID of any version in any case', async () => {
    const nil = '00000000-0000-0000-0000-00000000000A';
    expect((await server.ask('GET', '/api/state', { session: nil })).status).toBe(200);
    expect((await server.ask('GET', `/api/sessions/${nil}`)).json).toEqual({
      session_id: nil.toLowerCase(),
      title: 'New Chat',
    });
  });
});

/** The turn that works now. */
async function openTurnId(): Promise<string> {
  const { open, faults } = await server.core.snapshot({ id: session, ifUnknown: 'refuse' });
  faults.release();
  return open[0]?.messages[0]?.turnId ?? '';
}

/** Resolves when no turn is open any more. */
async function settledTurn(): Promise<void> {
  const turnId = await openTurnId();
  if (turnId === '') return;
  const never = new AbortController();
  await server.core.turnEnded({ sessionId: session, turnId, repeated: false }, never.signal);
}
