import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { testApp } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { sendRaw } from '../support/raw.js';
import { ScriptedRig } from '../support/scripted-rig.js';

const slot = { name: 'API_KEY', description: 'Vendor key', required: true };
let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;
let key: string;

beforeEach(async () => {
  server = await serveScripted({
    surfaces: ['current'],
    rigs: [new ScriptedRig('second'), new ScriptedRig('third')],
    apps: [
      testApp({ rigs: ['scripted', 'second'] }),
      testApp({ name: 'paid', rigs: ['third'], secrets: [slot] }),
    ],
  });
  session = randomUUID();
  key = await grantKey(server.store, ['paid']);
});
afterEach(() => server.close());

describe('POST /api/control/model', () => {
  it('selects, and says whether it created the session', async () => {
    const first = await server.ask('POST', '/api/control/model?rig=second', { session });
    expect([first.status, first.json]).toEqual([
      200,
      { success: true, rig: 'second', baml: 'second', created: true },
    ]);
    const again = await server.ask('POST', '/api/control/model', {
      session,
      body: { rig: 'scripted', baml: 'other' },
    });
    expect(again.json).toEqual({ success: true, rig: 'scripted', baml: 'other', created: false });
    const listed = await server.ask('GET', '/api/control/models', { session });
    expect(listed.json).toEqual(['scripted', 'second']);
  });

  it('refuses a rig that is missing, unknown, or not allowed for the App', async () => {
    for (const query of ['', '?rig=', '?rig=none', '?rig=third', '?rig=scripted&rig=second']) {
      const { status, json } = await server.ask('POST', `/api/control/model${query}`, { session });
      expect([query, status]).toEqual([query, 400]);
      expect(json).toMatchObject({ code: 'invalid' });
    }
  });

  it('looks at the key of the App', async () => {
    const path = '/api/control/model?rig=third&app=paid';
    expect((await server.ask('POST', path, { session })).status).toBe(401);
    const allowed = await server.ask('POST', path, { session, headers: { 'service-app-key': key } });
    expect(allowed.json).toMatchObject({ success: true, rig: 'third' });
  });
});

describe('GET /api/control/models', () => {
  it('has no tag, and so answers in full whatever the condition', async () => {
    // Not by fetch, which would forbid any answer from a cache.
    const lines = ['GET /api/control/models HTTP/1.1', 'Host: here', 'If-None-Match: *', 'Connection: close'];
    const answer = await sendRaw(server.url, `${lines.join('\r\n')}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('lists the rigs, the one in use first, with or without a session', async () => {
    expect((await server.ask('GET', '/api/control/models')).json).toEqual(['scripted', 'second']);
    await server.ask('POST', '/api/control/model?rig=second', { session });
    expect((await server.ask('GET', '/api/control/models', { session })).json).toEqual([
      'second',
      'scripted',
    ]);
  });

  it('lists ids and names on request, and refuses anything else that is to be included', async () => {
    const { json } = await server.ask('GET', '/api/control/models?include=names');
    expect(json).toEqual([
      { id: 'scripted', name: expect.any(String) },
      { id: 'second', name: expect.any(String) },
    ]);
    const { status } = await server.ask('GET', '/api/control/models?include=prices');
    expect(status).toBe(400);
  });

  it('lists those of an App for its key', async () => {
    const path = '/api/control/models?app=paid';
    expect((await server.ask('GET', path)).status).toBe(401);
    expect((await server.ask('GET', path, { headers: { 'SERVICE-APP-KEY': key } })).json).toEqual(['third']);
  });
});

describe('GET /api/control/apps', () => {
  it('lists default, and what the key authorizes with its secret slots', async () => {
    expect((await server.ask('GET', '/api/control/apps', { session })).json).toEqual([{ name: 'default' }]);
    const headers = { 'SERVICE-APP-KEY': key };
    expect((await server.ask('GET', '/api/control/apps', { session, headers })).json).toEqual([
      { name: 'default' },
      { name: 'paid', secrets: [slot] },
    ]);
    const { status, json } = await server.ask('GET', '/api/control/apps', {
      session,
      headers: { 'SERVICE-APP-KEY': 'bad' },
    });
    expect([status, json]).toEqual([401, expect.objectContaining({ code: 'unauthenticated' })]);
  });

  it('takes an empty key for none, and brings the session into being', async () => {
    const { json } = await server.ask('GET', '/api/control/apps', {
      session,
      headers: { 'SERVICE-APP-KEY': '' },
    });
    expect(json).toEqual([{ name: 'default' }]);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(200);
  });
});

describe('GET /api/events', () => {
  it('lists the last system events, and drains nothing', async () => {
    expect((await server.ask('GET', '/api/events', { session })).json).toEqual([]);
    await server.ask('POST', '/api/control/model?rig=third&app=paid', {
      session,
      headers: { 'SERVICE-APP-KEY': key },
    });
    const whole = server.ask('POST', '/api/chat?message=Hi', { session, headers: { Prefer: 'wait=60' } });
    (await server.rig.next()).text('Hello').end();
    await whole;
    const notice = { SystemNotice: expect.any(String) };
    for (let i = 0; i < 2; i++) {
      expect((await server.ask('GET', '/api/events?count=1', { session })).json).toEqual([notice]);
    }
  });

  it.each(['0', '1001', 'x', '-5'])('refuses count=%s', async (count) => {
    const { status, json } = await server.ask('GET', `/api/events?count=${count}`, { session });
    expect([status, json]).toEqual([
      400,
      expect.objectContaining({ details: [expect.objectContaining({ path: 'count' })] }),
    ]);
  });
});

describe('health', () => {
  it('answers as JSON and as a word, without a session', async () => {
    const probe = await server.ask('GET', '/api/health');
    expect([probe.status, probe.json]).toEqual([
      200,
      { status: 'ok', version: '1.2.3', surfaces: ['current'] },
    ]);
    const word = await server.ask('GET', '/health');
    expect([word.status, word.text, word.headers.get('content-type')]).toEqual([
      200,
      'OK',
      'text/plain; charset=utf-8',
    ]);
    expect((await server.ask('HEAD', '/api/health')).status).toBe(200);
    expect((await server.ask('POST', '/api/health')).status).toBe(405);
  });

  it('answers 503 while the service drains', async () => {
    await server.core.drain(0);
    const probe = await server.ask('GET', '/api/health');
    expect([probe.status, probe.json]).toEqual([
      503,
      expect.objectContaining({ status: 'draining', version: '1.2.3' }),
    ]);
    expect(probe.headers.get('retry-after')).toMatch(/^\d+$/);
    // Alive, but not ready: nothing is won by killing it.
    expect(await server.ask('GET', '/health')).toMatchObject({ status: 200, text: 'OK' });
    const message = await server.ask('POST', '/api/chat?message=Hi', { session });
    expect(message.status).toBe(503);
    expect(message.json).toMatchObject({ code: 'unavailable' });
    expect(message.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await server.ask('GET', '/api/state', { session })).status).toBe(200);
  });
});
