import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeTestCores } from '../support/core.js';
import { serveScripted } from '../support/http.js';
import { openStream } from '../support/sse.js';

const LEGACY = {
  deprecatedAt: Date.UTC(2026, 0, 31),
  sunsetAt: Date.UTC(2026, 11, 31, 12),
  link: 'https://example.org/migrating?a=<b>',
};
const LINK =
  '<https://example.org/migrating?a=%3Cb%3E>; rel="deprecation"; type="text/html", </current/api>; rel="successor-version"';
const ALL = ['@1769817600', 'Thu, 31 Dec 2026 12:00:00 GMT', LINK];
const NONE = [null, null, null];

let server: Awaited<ReturnType<typeof serveScripted>>;
afterEach(async () => {
  await server.close();
  await closeTestCores();
});

function noticeOf({ headers }: { readonly headers: Headers }): (string | null)[] {
  return ['deprecation', 'sunset', 'link'].map((name) => headers.get(name));
}

describe('the notice on legacy answers', () => {
  it('is on everything of the legacy base, errors too, and on legacy paths of the merged one', async () => {
    server = await serveScripted({ legacy: LEGACY, http: { rateLimit: 1_000 } });
    const session = randomUUID();
    const legacy: [string, string, number][] = [
      ['POST', '/legacy/api/sessions', 200],
      ['GET', `/legacy/api/sessions/${session}`, 200],
      ['GET', '/legacy/api/sessions/%zz', 400],
      ['GET', '/legacy/api/nothing', 404],
      ['DELETE', '/legacy/api/sessions', 405],
      ['OPTIONS', '/legacy/api/thread/chat', 204],
      ['GET', '/api/session/models', 200],
      ['GET', '/api/session/apps', 401],
      ['POST', '/api/thread/chat', 400],
      ['PATCH', '/api/thread/state', 405],
      ['GET', `/api/thread/state?session_id=${randomUUID()}`, 404],
      ['POST', '/api/control/other', 404],
    ];
    for (const [method, path, status] of legacy) {
      const answer = await server.ask(method, path, { session });
      expect([path, answer.status, ...noticeOf(answer)]).toEqual([path, status, ...ALL]);
      const exposed = answer.headers.get('access-control-expose-headers') ?? '';
      for (const name of ['Deprecation', 'Sunset', 'Link']) expect(exposed.split(',')).toContain(name);
    }
    const current: [string, string][] = [
      ['GET', '/api/state'],
      ['GET', '/current/api/state'],
      ['GET', '/api/nothing'],
      ['GET', '/api/health'],
      ['POST', '/api/sessions'],
      ['POST', '/api/control/model?rig=scripted'],
    ];
    for (const [method, path] of current) {
      expect([path, ...noticeOf(await server.ask(method, path, { session }))]).toEqual([path, ...NONE]);
    }
  });

  it('is on streams, and on a refusal by the limit of requests', async () => {
    server = await serveScripted({ legacy: LEGACY, http: { rateLimit: 3 } });
    const session = randomUUID();
    const headers = { 'X-Session-Id': session };
    for (const base of ['/api', '/legacy/api']) {
      const stream = await openStream(`${server.url}${base}/thread/updates`, { headers });
      expect([stream.response.status, ...noticeOf(stream.response)]).toEqual([200, ...ALL]);
      stream.close();
    }
    const chat = await openStream(`${server.url}/api/thread/chat`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ text: 'Hi' }) },
    });
    expect([chat.response.headers.get('content-type'), ...noticeOf(chat.response)]).toEqual([
      ...['text/event-stream', ...ALL],
    ]);
    chat.close();
    const refused = await server.ask('GET', '/api/session/models');
    expect([refused.status, ...noticeOf(refused)]).toEqual([429, ...ALL]);
  });

  it('is on shared paths when the request is read as legacy', async () => {
    server = await serveScripted({ legacy: LEGACY });
    const session = randomUUID();
    await server.ask('POST', '/api/sessions', { session });
    const asked = async (method: string, path: string, options: object = {}) =>
      noticeOf(await server.ask(method, path, { session, ...options }));
    const old = { headers: { 'X-API-Key': 'k' } };
    const both = { headers: { 'X-API-Key': 'k', 'SERVICE-APP-KEY': 'k' } };
    expect(await asked('POST', '/api/sessions', old)).toEqual(ALL);
    expect(await asked('GET', `/api/sessions/${session}`, old)).toEqual(ALL);
    expect(await asked('GET', `/api/sessions/${session}`, both)).toEqual(NONE);
    expect(await asked('GET', `/api/sessions/${session}`)).toEqual(NONE);
    const select = '/api/control/model';
    expect(await asked('POST', `${select}?session_id=${session}`, { body: { model: 'no' } })).toEqual(ALL);
    expect(await asked('POST', select, { body: { model: 'no' } })).toEqual(ALL);
    expect(await asked('POST', `${select}?session_id=${session}&rig=no`)).toEqual(NONE);
    expect(await asked('POST', select)).toEqual(NONE);
  });

  it('stands beside the link to the next page', async () => {
    server = await serveScripted({ legacy: LEGACY });
    const wallet = 'w';
    for (let n = 0; n < 2; n++) {
      await server.ask('POST', '/api/sessions', { session: randomUUID(), body: { public_key: wallet } });
    }
    const page = await server.ask('GET', `/api/sessions?public_key=${wallet}&limit=1`, {
      session: randomUUID(),
    });
    expect(page.headers.get('link')).toMatch(/^<\/api\/sessions\?[^>]*>; rel="next"$/);
  });

  it('says what was set and no more; without a page about it there is no link', async () => {
    server = await serveScripted({ legacy: { ...LEGACY, link: null } });
    expect(noticeOf(await server.ask('GET', '/api/session/models'))).toEqual([ALL[0], ALL[1], null]);
    await server.close();
    server = await serveScripted({ legacy: { deprecatedAt: null, sunsetAt: null, link: null } });
    expect(noticeOf(await server.ask('GET', '/legacy/api/session/models'))).toEqual(NONE);
    await server.close();
    server = await serveScripted();
    expect(noticeOf(await server.ask('GET', '/legacy/api/session/models'))).toEqual(NONE);
  });

  it('names no successor where the legacy surface is alone, and leaves probes out', async () => {
    server = await serveScripted({ legacy: LEGACY, surfaces: ['legacy'] });
    const [, , link] = noticeOf(await server.ask('GET', '/api/sessions/x'));
    expect(link).toBe(LINK.split(', <')[0]);
    expect(noticeOf(await server.ask('GET', '/health'))).toEqual(NONE);
    expect(noticeOf(await server.ask('GET', '/api/health'))).toEqual(NONE);
  });
});
