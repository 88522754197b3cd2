import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { serveScripted } from '../support/http.js';
import { ScriptedRig } from '../support/scripted-rig.js';
import { fieldsOf, ISO_TIME } from '../support/snapshot.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
let session: string;

beforeEach(async () => {
  server = await serveScripted({ rigs: [new ScriptedRig('second')] });
  session = randomUUID();
});
afterEach(() => server.close());

describe('the merged surface', () => {
  it('creates sessions with the fields of both', async () => {
    const first = await server.ask('POST', '/api/sessions', { session, body: { public_key: 'w' } });
    expect(first.text).toBe(JSON.stringify({ session_id: session, title: 'New Chat', created: true }));
    const again = await server.ask('POST', '/api/sessions', { session });
    expect([again.status, again.json]).toEqual([
      200,
      { session_id: session, title: 'New Chat', created: false },
    ]);
  });

  it('shows a session with the fields of both', async () => {
    const other = randomUUID();
    for (const id of [other, session])
      await server.ask('POST', '/api/sessions?public_key=w', { session: id });
    const thread = (id: string) => ({ id, title: 'New Chat', created_at: ISO_TIME, updated_at: ISO_TIME });
    const { status, json } = await server.ask('GET', `/api/sessions/${session}`);
    expect([status, json]).toEqual([
      200,
      { session_id: session, title: 'New Chat', threads: [thread(session), thread(other)] },
    ]);
  });

  it.each([
    ['rig in the query', '?rig=second', undefined, true],
    ['rig in the body', '', { rig: 'second' }, true],
    ['both, so the current one', `?rig=second&session_id=${randomUUID()}`, { model: 'none' }, true],
  ])('selects a model as the current surface does: %s', async (_, query, body, created) => {
    const { status, json } = await server.ask('POST', `/api/control/model${query}`, { session, body });
    expect([status, json]).toEqual([200, { success: true, rig: 'second', baml: 'second', created }]);
  });

  it('selects a model as the legacy surface does', async () => {
    await server.ask('POST', '/api/sessions', { session });
    const body = { model: 'second' };
    for (const [query, rig] of [
      ['', undefined],
      ['', null],
      ['', ' '],
      ['&rig=', undefined],
    ] as const) {
      const path = `/api/control/model?session_id=${session}${query}`;
      const { status, json } = await server.ask('POST', path, { body: { ...body, rig } });
      expect([status, json]).toEqual([200, { success: true, rig: 'second', baml: 'second', created: false }]);
    }
    const listed = await server.ask('GET', '/api/control/models', { session });
    expect(listed.json).toEqual(['second', 'scripted']);
  });

  it('refuses a model selection in the shape of the current surface, from any client', async () => {
    const id = { request_id: expect.any(String) };
    const body = { model: 'second' };
    const unknown = await server.ask('POST', `/api/control/model?session_id=${randomUUID()}`, { body });
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { error: expect.any(String), code: 'not_found', ...id },
    ]);
    const nameless = await server.ask('POST', '/api/control/model', { session, body });
    expect([nameless.status, nameless.json]).toEqual([
      400,
      expect.objectContaining({ details: [expect.objectContaining({ path: 'session_id' })] }),
    ]);
    for (const [path, selection] of [
      ['rig', '?rig=none'],
      ['model', `?session_id=${session}`],
    ]) {
      const asked = { session, body: { model: 'none' } };
      await server.ask('POST', '/api/sessions', { session });
      const { status, json } = await server.ask('POST', `/api/control/model${selection ?? ''}`, asked);
      expect([status, json]).toMatchObject([400, { details: [{ path }] }]);
    }
    const nothing = await server.ask('POST', '/api/control/model?rig=', { session });
    expect([nothing.status, nothing.json]).toEqual([
      400,
      expect.objectContaining({ details: [expect.objectContaining({ path: 'rig' })] }),
    ]);
    const broken = await server.ask('POST', '/api/control/model', { session, body: '{' });
    expect([broken.status, broken.json]).toEqual([
      400,
      expect.objectContaining({ error: 'the request body is not valid JSON' }),
    ]);
    const large = await server.ask('POST', `/api/control/model?session_id=${session}`, {
      body: 'x'.repeat(1_048_577),
    });
    expect(large.status).toBe(413);
  });

  it('gives paths of one surface that surface’s errors', async () => {
    const legacy = await server.ask('GET', '/api/thread/state');
    expect([legacy.status, legacy.json]).toEqual([
      400,
      { error: 'session_id is required: the UUID of the session' },
    ]);
    const current = await server.ask('GET', '/api/state');
    expect([current.status, current.json]).toEqual([
      400,
      {
        error: 'X-Session-Id is required: the UUID of the session',
        code: 'invalid',
        request_id: expect.any(String),
        details: [{ path: 'X-Session-Id', message: 'X-Session-Id is required: the UUID of the session' }],
      },
    ]);
    expect((await server.ask('POST', `/api/control/dance?session_id=${session}`)).json).toEqual({
      error: expect.stringContaining('model'),
    });
  });
});

describe('each surface at its own base', () => {
  it('gives exactly its own shapes', async () => {
    const current = await server.ask('POST', '/current/api/sessions', { session });
    expect(current.json).toEqual({ session_id: session, title: 'New Chat' });
    const legacy = await server.ask('POST', '/legacy/api/sessions', { session });
    expect(legacy.json).toEqual({ session_id: session, created: false });
    expect((await server.ask('GET', `/current/api/sessions/${session}`)).json).toEqual(current.json);
    expect((await server.ask('GET', `/legacy/api/sessions/${session}`)).json).toEqual({
      session_id: session,
      threads: [{ id: session, title: 'New Chat', created_at: ISO_TIME, updated_at: ISO_TIME }],
    });
    const body = { model: 'second' };
    const model = await server.ask('POST', `/legacy/api/control/model?session_id=${session}`, { body });
    expect(model.text).toBe('{"success":true}');
    expect((await server.ask('POST', '/current/api/control/model', { session, body })).status).toBe(400);
  });

  it('knows nothing of the other', async () => {
    const wrong = [
      ['GET', '/current/api/thread/state'],
      ['GET', '/legacy/api/state'],
      ['POST', '/legacy/api/chat'],
    ] as const;
    for (const [method, path] of wrong) {
      const { status, json } = await server.ask(method, path, { session });
      expect([path, status]).toEqual([path, 404]);
      expect(fieldsOf(json)).toEqual(
        path.startsWith('/legacy') ? ['error'] : ['error', 'code', 'request_id'],
      );
    }
  });

  it('links to further pages under its own base', async () => {
    for (let i = 0; i < 2; i++)
      await server.ask('POST', '/api/sessions?public_key=w', { session: randomUUID() });
    const { headers } = await server.ask('GET', '/current/api/sessions?public_key=w&limit=1', { session });
    expect(headers.get('link')).toMatch(
      /^<\/current\/api\/sessions\?public_key=w&limit=1&cursor=[\w-]+>; rel="next"$/,
    );
  });
});

describe.each(['current', 'legacy'] as const)('%s exposed alone', (only) => {
  it('is /api itself, and the other one answers 404 everywhere', async () => {
    await server.close();
    server = await serveScripted({ surfaces: [only] });
    const other = only === 'current' ? 'legacy' : 'current';
    const created = await server.ask('POST', '/api/sessions', { session });
    const shape = {
      current: { session_id: session, title: 'New Chat' },
      legacy: { session_id: session, created: true },
    };
    expect(created.json).toEqual(shape[only]);
    expect((await server.ask('POST', `/${only}/api/sessions`, { session })).status).toBe(200);
    expect((await server.ask('POST', `/${other}/api/sessions`, { session })).status).toBe(404);
    const theirs = only === 'current' ? '/api/session/models' : '/api/state';
    expect((await server.ask('GET', theirs, { session })).status).toBe(404);
    expect((await server.ask('GET', '/api/health')).json).toEqual({
      status: 'ok',
      version: '1.2.3',
      surfaces: [only],
    });
    expect((await server.ask('GET', '/health')).text).toBe('OK');
  });
});

describe('POST /api/control/models and /api/control/apps', () => {
  it.each(['models', 'apps', 'Models/', 'nothing'])(
    'answer as the legacy surface does: %s',
    async (action) => {
      const headers = { 'X-Request-Id': 'same', 'Content-Type': 'application/json' };
      const ask = (base: string) =>
        server.ask('POST', `${base}/api/control/${action}?session_id=${session}`, { headers, body: {} });
      const [merged, legacy] = [await ask(''), await ask('/legacy')];
      expect(merged.status).toBe(404);
      expect([merged.status, merged.text]).toEqual([legacy.status, legacy.text]);
      expect(merged.headers.has('allow')).toBe(false);
    },
  );

  it('answer other methods as the current surface does', async () => {
    const { status, headers } = await server.ask('DELETE', '/api/control/models');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await server.ask('GET', '/api/control/models')).status).toBe(200);
  });
});
