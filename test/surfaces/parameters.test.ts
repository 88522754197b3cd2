import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { testApp } from '../support/core.js';
import { serveScripted, type Answer } from '../support/http.js';
import { objectOf } from '../support/house.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  session = randomUUID();
  server = await serveScripted({ apps: [testApp(), testApp({ name: 'closed' })] });
});
afterEach(() => server.close());

/** The status of a response that may be a stream, which is not read. */
async function statusOf(path: string, headers: Record<string, string>, body?: object): Promise<number> {
  const gone = new AbortController();
  const { status } = await fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-Session-Id': session, ...headers },
    signal: gone.signal,
    ...(body && { body: JSON.stringify(body) }),
  });
  gone.abort();
  return status;
}

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  server.ask(method, path, { session, ...(body !== undefined && { body }) });

describe('query parameters that nobody knows', () => {
  it.each([
    ['that are no UTF-8', '%=%&%ff=%C0%80&x=%'],
    ['by the thousand', `${'a=1&'.repeat(5_000)}b`],
    [
      'by the ten thousand, each another',
      Array.from({ length: 10_000 }, (_, n) => `k${String(n)}=${String(n)}`).join('&'),
    ],
    ['that are nearly known', 'Tail=x&tail[]=x&tail%00=x&_tail=x&__proto__=x&constructor=x'],
    ['with a very long name', `${'%74'.repeat(50_000)}=1`],
    ['without names', '&&=&=x&&'],
  ])('are ignored %s', async (_what, query) => {
    for (const path of ['/api/state', '/current/api/state', '/api/control/models', '/api/session/models'])
      expect([path, (await ask('GET', `${path}?${query}`)).status]).toEqual([path, 200]);
    // A known one is found behind them.
    const { headers } = await ask('GET', `/api/state?${query}&tail=0`);
    expect(headers.get('x-total-messages')).toBe('0');
    expect((await ask('GET', `/api/state?${query}&tail=x`)).status).toBe(400);
  });
});

describe('query parameters that are known', () => {
  it('are found however they are spelled', async () => {
    const { json } = await ask('POST', '/api/chat?%6Dessage=a+b%20c%C3%A9&message%5F=no');
    expect(objectOf(json).messages).toMatchObject([{ content: 'a b cé' }]);
  });

  it('are refused when they are given twice, or are no UTF-8', async () => {
    for (const query of [
      'message=a&message=b',
      'message=a&%6dessage=b',
      'message=%ff',
      'message=a&app=%',
      'message=a&app=x&app=y',
    ])
      expect([query, (await ask('POST', `/api/chat?${query}`)).status]).toEqual([query, 400]);
  });

  it('count as absent when they are optional and blank, in a body too', async () => {
    for (const blank of ['', '%20', '+%09']) {
      const query = ['app', 'public_key', 'user_state', 'client_id']
        .map((name) => `${name}=${blank}`)
        .join('&');
      expect((await ask('POST', `/api/chat?message=hi&${query}`)).status).toBe(200);
      expect((await ask('GET', `/api/state?tail=${blank}&user_state=${blank}`)).status).toBe(200);
      expect((await ask('GET', `/api/events?count=${blank}`)).status).toBe(200);
    }
    expect((await ask('POST', '/api/chat', { message: 'hi', app: '', public_key: ' ' })).status).toBe(200);
    expect((await ask('POST', '/api/sessions', { public_key: '' })).status).toBe(200);
    expect((await server.ask('GET', '/api/control/models?app=')).status).toBe(200);
  });

  it('do not hide those in the body when they are optional and blank', async () => {
    const query = '?message=hi&app=&public_key=+';
    expect((await ask('POST', `/api/chat${query}`, { app: 'closed' })).status).toBe(401);
    const wallet = `wallet-${session}`;
    expect((await ask('POST', `/api/chat${query}`, { public_key: wallet })).status).toBe(200);
    const { json } = await ask('GET', `/api/sessions?public_key=${wallet}`);
    expect(json).toMatchObject([{ session_id: session }]);
    // An unusable body is an error where it could supply what the query lacks.
    expect((await ask('POST', `/api/chat${query}`, 'no JSON')).status).toBe(200);
    expect((await ask('POST', '/api/sessions?public_key=', 'no JSON')).status).toBe(400);
  });

  it('are refused when they are required and blank', async () => {
    expect((await ask('POST', '/api/chat?message=+')).status).toBe(400);
    expect((await ask('GET', '/api/sessions?public_key=')).status).toBe(400);
    expect((await server.ask('GET', '/api/thread/state?session_id=')).status).toBe(400);
    const { status, json } = await ask('POST', '/api/tools', { name: '' });
    expect([status, json]).toMatchObject([400, { details: [{ path: 'name' }] }]);
    expect((await ask('POST', '/api/tools', { name: ' ' })).status).toBe(400);
  });
});

describe('JSON that costs too much to parse', () => {
  const deep = '['.repeat(1_048_576);

  it('is refused in a body that is needed', async () => {
    const { status, json } = await ask('POST', '/api/secrets', deep);
    expect([status, json]).toMatchObject([
      400,
      { error: 'the request body is nested too deeply: at most 100 levels are read' },
    ]);
    const legacy = await ask(
      'POST',
      '/legacy/api/thread/chat',
      `{"text":"hi","x":[${'0,'.repeat(20_000)}0]}`,
    );
    expect([legacy.status, legacy.json]).toEqual([
      400,
      { error: 'the request body has too many values: at most 10000 are read' },
    ]);
  });

  it('is refused in user_state, and in the arguments of a tool', async () => {
    const { status, json } = await ask('GET', `/api/state?user_state=${'{"a":'.repeat(50_000)}`);
    expect([status, json]).toMatchObject([
      400,
      { details: [{ path: 'user_state', message: expect.stringContaining('is nested too deeply') }] },
    ]);
    expect((await ask('POST', '/api/tools', { name: 'x', args: '['.repeat(15_000) })).status).toBe(400);
    expect((await ask('POST', '/api/tools', `{"name":"x","args":${'['.repeat(15_000)}`)).status).toBe(400);
  });
});

describe('legacy parameters', () => {
  it('are read from the query alone: app and client_id of the chat', async () => {
    const path = '/legacy/api/thread/chat';
    const text = 'hi';
    expect(await statusOf(path, {}, { text, app: 'closed', client_id: 5 })).toBe(200);
    expect(await statusOf(`${path}?app=closed`, {}, { text })).toBe(401);
    expect(await statusOf(`${path}?app=`, {}, { text, app: 'closed' })).toBe(200);
  });

  it.each(['/legacy', ''])(
    'are read from the query alone: session_id of the model, under "%s"',
    async (base) => {
      await ask('POST', '/api/sessions');
      const model = server.rig.id;
      const path = `${base}/api/control/model`;
      const inBody = await server.ask('POST', path, { body: { session_id: session, model } });
      expect([inBody.status, inBody.json]).toMatchObject([
        400,
        { error: expect.stringContaining('session_id is required') },
      ]);
      expect((await server.ask('POST', `${path}?session_id=${session}`, { body: { model } })).status).toBe(
        200,
      );
      // The one in the query is the one that is counted and used.
      const both = await server.ask('POST', `${path}?session_id=${randomUUID()}`, {
        body: { session_id: session, model },
      });
      expect(both.status).toBe(404);
    },
  );

  it('leave a body with session_id alone to the current surface, where both answer', async () => {
    const { status, json } = await server.ask('POST', '/api/control/model', {
      body: { session_id: session },
    });
    expect([status, json]).toMatchObject([400, { error: expect.stringContaining('X-Session-Id') }]);
  });
});

describe('Accept of GET /api/updates', () => {
  it.each([
    ...[
      'text/event-stream;charset=utf-8',
      'text/event-stream; charset="utf-8"; q=0.5',
      'TEXT/EVENT-STREAM',
      'text/*;level=1',
    ],
    ...['application/json, text/event-stream;v=1', '*/*;q=0.1', ' ', 'text/event-stream;q=1.000'],
  ])('%j is taken', async (accept) => {
    expect(await statusOf('/api/updates', { Accept: accept })).toBe(200);
  });

  it.each([
    'application/json',
    'text/event-stream;charset=utf-8;q=0, */*',
    'text/event-stream;q=0.0',
    'text/html;q=1',
    ',',
  ])('%j rules the stream out', async (accept) => {
    const { status } = await server.ask('GET', '/api/updates', { session, headers: { Accept: accept } });
    expect(status).toBe(400);
  });
});
