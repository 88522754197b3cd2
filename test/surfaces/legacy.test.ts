import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { testApp } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { ScriptedRig } from '../support/scripted-rig.js';
import { messagesOf, said } from '../support/snapshot.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;
const error = { error: expect.any(String) };

beforeEach(async () => {
  server = await serveScripted({
    rigs: [new ScriptedRig('second')],
    apps: [testApp(), testApp({ name: 'paid', rigs: ['second'] })],
  });
  session = randomUUID();
});
afterEach(() => server.close());

/** Has a message answered over the legacy surface; resolves with the whole stream. */
async function talk(text: string, answer: string): Promise<string> {
  const whole = server.ask('POST', '/api/thread/chat', { session, body: { text } });
  (await server.rig.next()).text(answer).end();
  return (await whole).text;
}

describe('GET /api/thread/state', () => {
  it('shows the session in the order of the document, with the messages of the snapshot', async () => {
    await talk('Hi', 'Hello!');
    const { status, headers, text, json } = await server.ask(
      'GET',
      `/api/thread/state?session_id=${session}`,
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(json).toEqual({
      session_id: session,
      status: 'idle',
      messages: [said('user', 'Hi'), said('agent', 'Hello!')],
      user_state: { address: null, chain_id: null, is_connected: null },
    });
    expect(text).toMatch(/^\{"session_id":".*","status":"idle","messages":\[.*\],"user_state":\{"address":/);
    const snapshot = await server.ask('GET', '/current/api/state', { session });
    expect(messagesOf(snapshot.json)).toEqual(messagesOf(json));
  });

  it('says its status in one word', async () => {
    const status = async () => (await server.ask('GET', `/api/thread/state?session_id=${session}`)).json;
    await server.ask('POST', '/current/api/chat?message=Hi', { session });
    expect(await status()).toMatchObject({ status: 'processing' });
    await server.ask('POST', `/api/thread/interrupt?session_id=${session}`);
    expect(await status()).toMatchObject({ status: 'interrupted' });
  });

  it('shows the user state flat, the chain as an integer', async () => {
    const userState = { connection: { is_connected: true }, evm: { address: '0xabc', chain_id: '0x89' } };
    await server.ask('GET', `/api/state?user_state=${encodeURIComponent(JSON.stringify(userState))}`, {
      session,
    });
    const { text } = await server.ask('GET', `/api/thread/state?session_id=${session.toUpperCase()}`);
    expect(text).toContain('"user_state":{"address":"0xabc","chain_id":137,"is_connected":true}}');
  });

  it('leaves system errors to the snapshot', async () => {
    const whole = server.ask('POST', '/api/thread/chat', { session, body: { text: 'Hi' } });
    (await server.rig.next()).fail(new Error('boom'));
    await whole;
    await server.ask('GET', `/api/thread/state?session_id=${session}`);
    const { json } = await server.ask('GET', '/api/state', { session });
    expect(json).toMatchObject({ system_events: [{ SystemError: expect.any(String) }] });
  });
});

describe('POST /api/thread/interrupt', () => {
  it('says whether there was something to cancel', async () => {
    await server.ask('POST', '/current/api/chat?message=Hi', { session });
    const path = `/api/thread/interrupt?session_id=${session}`;
    expect((await server.ask('POST', path)).text).toBe('{"interrupted":true}');
    expect((await server.ask('POST', path)).text).toBe('{"interrupted":false}');
  });
});

describe('session_id in the query', () => {
  it.each([
    ['GET', '/api/thread/state'],
    ['POST', '/api/thread/interrupt'],
    ['GET', '/api/thread/updates'],
    ['POST', '/legacy/api/control/model'],
  ])('is needed, and names a session that exists: %s %s', async (method, path) => {
    const body = method === 'POST' ? { model: 'second' } : undefined;
    for (const query of [
      '',
      '?session_id=',
      '?session_id=x',
      `?session_id=${session}&session_id=${session}`,
    ]) {
      const { status, json } = await server.ask(method, path + query, { body });
      expect([query, status, json]).toEqual([query, 400, error]);
    }
    const { status, json } = await server.ask(method, `${path}?session_id=${session}`, { body });
    expect([status, json]).toEqual([404, error]);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });

  it.each([
    ['GET', '/api/thread/state'],
    ['POST', '/api/thread/interrupt'],
    ['POST', '/legacy/api/control/model'],
    ['POST', '/api/control/model'],
  ])('is the one that is meant beside a header, which creates its own: %s %s', async (method, path) => {
    const body = method === 'POST' ? { model: 'second' } : undefined;
    const asked = (header: string) =>
      server.ask(method, `${path}?session_id=${session}`, { session: header, body });
    const other = randomUUID();
    expect((await asked(other)).status).toBe(404);
    expect((await server.ask('GET', `/api/sessions/${other}`)).status).toBe(200);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
    expect((await asked(session)).status).toBe(200);
    expect((await asked('mine')).json).toMatchObject({ error: 'X-Session-Id must be a UUID' });
  });

  it('of a deleted session is not found, unless a selection brings it back by its header', async () => {
    await server.ask('POST', '/api/sessions', { session });
    await server.ask('DELETE', `/api/sessions/${session}`);
    const asked = async (method: string, path: string) => {
      const options = { session, body: method === 'POST' ? { model: 'second' } : undefined };
      return (await server.ask(method, `${path}?session_id=${session}`, options)).status;
    };
    expect(await asked('GET', '/api/thread/state')).toBe(404);
    expect(await asked('POST', '/api/thread/interrupt')).toBe(404);
    expect(await asked('POST', '/legacy/api/control/model')).toBe(200);
    expect(await asked('GET', '/api/thread/state')).toBe(200);
  });
});

describe('POST /api/thread/chat', () => {
  it.each([
    ['', 400],
    ['{', 400],
    ['[]', 400],
    ['"text"', 400],
    ['{}', 400],
    ['{"text":5}', 400],
    ['{"text":["a"]}', 400],
    ['{"text":null}', 400],
    ['{"text":" "}', 400],
    [JSON.stringify({ text: 'x'.repeat(70_000) }), 400],
    [JSON.stringify({ text: 'x'.repeat(1_048_576) }), 413],
  ])('answers the body %j with JSON', async (body, status) => {
    const answer = await server.ask('POST', '/api/thread/chat?text=query', { session, body });
    expect([answer.status, answer.json]).toEqual([status, error]);
  });

  it('answers a missing session, a bad key and a busy thread with JSON', async () => {
    const body = { text: 'Hi' };
    const paid = '/api/thread/chat?app=paid';
    expect((await server.ask('POST', '/api/thread/chat', { body })).json).toEqual({
      error: 'X-Session-Id is required: the UUID of the session',
    });
    const other = await grantKey(server.store, ['other']);
    const without = await server.ask('POST', paid, { session, body });
    expect([without.status, without.json]).toEqual([401, error]);
    // The key header of the other surface does not count.
    const wrong = await server.ask('POST', paid, { session, body, headers: { 'SERVICE-APP-KEY': other } });
    expect(wrong.status).toBe(401);
    const uncovered = await server.ask('POST', paid, { session, body, headers: { 'X-API-Key': other } });
    expect([uncovered.status, uncovered.json]).toEqual([403, error]);
  });
});

describe('POST /api/control/{action}', () => {
  it('knows only model', async () => {
    await server.ask('POST', '/api/sessions', { session });
    for (const action of ['models', 'rig', '%20']) {
      const path = `/legacy/api/control/${action}?session_id=${session}`;
      const { status, json } = await server.ask('POST', path, { body: { model: 'second' } });
      expect([action, status, json]).toEqual([action, 404, error]);
    }
    expect((await server.ask('GET', '/legacy/api/control/model')).headers.get('allow')).toBe('POST, OPTIONS');
  });

  it.each(['', '{', '{}', '{"model":1}', '{"model":"none"}'])('refuses the body %s', async (body) => {
    await server.ask('POST', '/api/sessions', { session });
    const { status, json } = await server.ask('POST', `/legacy/api/control/model?session_id=${session}`, {
      body,
    });
    expect([status, json]).toEqual([400, error]);
  });
});

describe('GET /api/session/models and /api/session/apps', () => {
  it('list every rig, without a session', async () => {
    const { status, text } = await server.ask('GET', '/api/session/models');
    const model = (id: string) => ({ id, name: id, provider: 'test' });
    expect([status, text]).toEqual([200, JSON.stringify({ models: [model('scripted'), model('second')] })]);
  });

  it('bring the session of their header into being, as every request does', async () => {
    const key = await grantKey(server.store, ['paid']);
    for (const path of ['/api/session/models', '/api/session/apps']) {
      const fresh = randomUUID();
      const headers = { 'X-API-Key': key };
      expect((await server.ask('GET', path, { session: fresh, headers })).status).toBe(200);
      expect((await server.ask('GET', `/api/sessions/${fresh}`)).status).toBe(200);
      expect((await server.ask('GET', path, { session: 'mine', headers })).json).toEqual({
        error: 'X-Session-Id must be a UUID',
      });
    }
  });

  it('list the Apps of a key, which must be there', async () => {
    const key = await grantKey(server.store, ['paid']);
    expect((await server.ask('GET', '/api/session/apps')).json).toEqual(error);
    expect((await server.ask('GET', '/api/session/apps')).status).toBe(401);
    expect((await server.ask('GET', '/api/session/apps', { headers: { 'X-API-Key': 'x' } })).status).toBe(
      401,
    );
    const { text } = await server.ask('GET', '/api/session/apps', { headers: { 'X-API-Key': key } });
    expect(text).toBe('{"apps":[{"id":"default","name":"default"},{"id":"paid","name":"paid"}]}');
  });
});
