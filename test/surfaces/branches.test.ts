import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isObject, objectsIn, parseJson, textOf, type JsonObject } from '../../src/client/json.js';
import { message } from '../support/core.js';
import { serveScripted, type Answer } from '../support/http.js';
import { messagesOf } from '../support/snapshot.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ surfaces: ['current', 'legacy', 'field'] });
  session = randomUUID();
});
afterEach(() => server.close());

function bodyOf({ text }: Answer): JsonObject {
  const body = parseJson(text);
  return isObject(body) ? body : {};
}

/** Sends a message and answers it. */
async function talk(text: string, id = session): Promise<void> {
  const sent = server.ask('POST', `/api/chat?message=${text}`, {
    session: id,
    headers: { Prefer: 'wait=30' },
  });
  (await server.rig.next()).text(`re ${text}`).end({ inputTokens: 7, outputTokens: 5 });
  expect((await sent).status).toBe(200);
}

async function records() {
  return objectsIn(bodyOf(await server.ask('GET', `/api/sessions/${session}/messages?limit=100`)).messages);
}

async function idOf(content: string): Promise<string> {
  const found = (await records()).find((record) => record.content === content);
  return found === undefined ? '' : textOf(found, 'id');
}

function branch(body: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  return server.ask('POST', `/api/sessions/${session}/branch`, { body, headers });
}

function newId(answer: Answer): string {
  return textOf(bodyOf(answer), 'session_id');
}

async function said(id: string): Promise<readonly unknown[]> {
  const { json } = await server.ask('GET', '/api/state', { session: id });
  return messagesOf(json).map(({ content }) => content);
}

describe('POST /api/sessions/{id}/branch', () => {
  it('creates a session with the history up to a message, which goes on by itself', async () => {
    await server.ask('POST', '/api/sessions', { session, body: { public_key: 'w' } });
    await talk('one');
    await talk('two');
    await server.ask('PATCH', `/api/sessions/${session}`, { body: { title: 'Numbers' } });
    const state = encodeURIComponent('{"evm":{"chain_id":5}}');
    await server.ask('GET', `/api/state?user_state=${state}`, { session });
    const answer = await branch({ before: await idOf('two') });
    const id = newId(answer);
    expect([answer.status, answer.json]).toEqual([200, { session_id: id, title: 'Branch of Numbers' }]);
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4/);
    const { json } = await server.ask('GET', '/api/state', { session: id });
    expect(json).toMatchObject({
      user_state: { evm: { chain_id: 5 } },
      is_processing: false,
      system_events: [],
    });
    await talk('other', id);
    expect(await said(id)).toEqual(['one', 're one', 'other', 're other']);
    expect(await said(session)).toEqual(['one', 're one', 'two', 're two']);
    const listed = await server.ask('GET', '/api/sessions?public_key=w', { session });
    expect(listed.json).toEqual([
      { session_id: id, title: 'Branch of Numbers' },
      { session_id: session, title: 'Numbers' },
    ]);
    // A branch of a branch is marked once.
    const again = await server.ask('POST', `/current/api/sessions/${id}/branch`);
    expect(again.json).toMatchObject({ title: 'Branch of Numbers' });
  });

  it('takes the id from the query, in capitals too, and the whole history without one', async () => {
    await talk('one');
    const first = await idOf('re one');
    const cut = await server.ask('POST', `/api/sessions/${session}/branch?before=${first.toUpperCase()}`);
    expect(await said(newId(cut))).toEqual(['one']);
    const whole = await server.ask('POST', `/api/sessions/${session}/branch`);
    expect(await said(newId(whole))).toEqual(['one', 're one']);
  });

  it('leaves the title to the first message of the branch when its history is empty', async () => {
    server.rig.titles = 'About one';
    await talk('one');
    const answer = await branch({ before: await idOf('one') });
    expect(answer.json).toEqual({ session_id: newId(answer), title: 'New Chat' });
    expect(await said(newId(answer))).toEqual([]);
  });

  it('branches a session that was never written', async () => {
    await server.ask('GET', '/api/state', { session });
    const answer = await branch();
    expect([answer.status, await said(newId(answer))]).toEqual([200, []]);
  });

  it('is made once for an Idempotency-Key', async () => {
    await talk('one');
    const headers = { 'Idempotency-Key': 'k' };
    const both = await Promise.all([branch({}, headers), branch({}, headers)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(both.map(newId)).size).toBe(1);
    const other = await branch({ before: await idOf('one') }, headers);
    expect([other.status, other.json]).toMatchObject([422, { code: 'key_reused' }]);
    const message = await server.ask('POST', '/api/chat?message=two', { session, headers });
    expect(message.status).toBe(422);
    const id = newId(both[0]);
    await server.ask('DELETE', `/api/sessions/${id}`);
    const gone = await branch({}, headers);
    expect([gone.status, gone.json]).toMatchObject([410, { code: 'gone' }]);
    expect((await branch({}, { 'Idempotency-Key': 'x'.repeat(256) })).status).toBe(400);
  });

  it('refuses a message that ends no history', async () => {
    await talk('one');
    await server.ask('POST', '/api/chat?message=two', { session });
    const asked = await server.rig.next();
    const bad = [randomUUID(), await idOf('two'), 'x', 7, {}];
    for (const before of bad) {
      const { status, json } = await branch({ before });
      expect([before, status, json]).toMatchObject([
        before,
        400,
        { code: 'invalid', details: [{ path: 'before' }] },
      ]);
    }
    // What has ended can be branched during the turn.
    expect(await said(newId(await branch()))).toEqual(['one', 're one']);
    asked.text('re two').end();
    expect((await server.ask('POST', `/api/sessions/${session}/branch`, { body: '{' })).status).toBe(400);
    const own = session;
    for (const id of [randomUUID(), 'x']) {
      session = id;
      expect((await branch()).status).toBe(id === 'x' ? 400 : 404);
    }
    session = own;
    await server.ask('DELETE', `/api/sessions/${session}`);
    expect((await branch()).status).toBe(404);
    for (const base of ['legacy', 'field']) {
      expect((await server.ask('POST', `/${base}/api/sessions/${session}/branch`)).status).toBe(404);
    }
  });

  it('copies no more than a bounded amount of history in a while', async () => {
    await server.close();
    server = await serveScripted({ surfaces: ['current'], settings: { maxMessageBytes: 40_000_000 } });
    const text = 'x'.repeat(900_000);
    for (let sent = 0; sent < 30; sent++) {
      // Not over HTTP, where each response would show all messages.
      const accepted = await server.core.send(message(session, text));
      (await server.rig.next()).text('so').end();
      await server.core.turnEnded(accepted, new AbortController().signal);
    }
    // At once: each counts the bytes of the others.
    const responses = await Promise.all(Array.from({ length: 12 }, () => branch()));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 200));
    expect(statuses.slice(-2)).toEqual([429, 429]);
    const { headers, json } = await branch();
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(1);
    expect(json).toMatchObject({ code: 'too_many' });
  });
});

describe('GET /api/sessions/{id}/messages', () => {
  it('adds how the turns went, if asked', async () => {
    await talk('one');
    await server.ask('POST', '/api/chat?message=two', { session });
    const path = `/api/sessions/${session}/messages?include=turns`;
    const asked = await server.rig.next();
    const body = bodyOf(await server.ask('GET', path));
    const messages = objectsIn(body.messages);
    const turns = objectsIn(body.turns);
    expect(messages.map(({ turn_id }) => turn_id)).toEqual([
      turns[0]?.turn_id,
      turns[0]?.turn_id,
      turns[1]?.turn_id,
    ]);
    expect(turns).toMatchObject([
      { app: 'default', status: 'complete', rig: 'scripted', input_tokens: 7, output_tokens: 5, error: null },
      { status: 'running', rig: null, input_tokens: 0, output_tokens: 0, ended_at: null },
    ]);
    asked.text('re two').end();
    const page = await server.ask('GET', `${path}&limit=1&before=${textOf(messages[1] ?? {}, 'id')}`);
    expect(page.json).toMatchObject({ messages: [{ content: 'one' }], turns: [{ status: 'complete' }] });
    const empty = await server.ask('GET', `${path}&before=${textOf(messages[0] ?? {}, 'id')}`);
    expect(empty.json).toEqual({ messages: [], has_more: false, turns: [] });
    expect((await server.ask('GET', `${path}s`)).status).toBe(400);
    expect(Object.keys((await records())[0] ?? {})).not.toContain('turn_id');
  });
});
