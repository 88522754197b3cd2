import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { RefusedError, type RefusalReason } from '../../src/core/model/refusal.js';
import { StoreUnavailableError } from '../../src/core/ports/store.js';
import { keptLog } from '../support/core.js';
import { fakeCore, fakeSnapshot } from '../support/fake-core.js';
import { serveCore, type TestServer } from '../support/http.js';
import { Gate } from '../support/gate.js';
import { connectTo, sendRaw } from '../support/raw.js';
import { fieldsOf } from '../support/snapshot.js';

const session = randomUUID();
let server: TestServer;
let log = keptLog();

async function serve(
  ...[methods, options]: [Parameters<typeof fakeCore>[0], Partial<Parameters<typeof serveCore>[1]>?]
) {
  log = keptLog();
  server = await serveCore(fakeCore(methods), { log, ...options });
  return server;
}

afterEach(() => server.close());

it('a path that no route can read is refused in the shape of its own surface', async () => {
  await serve({});
  expect((await server.ask('GET', '/legacy/api/sessions/%zz')).json).toEqual({ error: expect.any(String) });
  const own = await server.ask('GET', '/current/api/sessions/%zz');
  expect([own.status, own.json]).toMatchObject([400, { code: 'invalid' }]);
});

describe('refusals', () => {
  const expected: Record<RefusalReason, number> = {
    invalid: 400,
    unauthenticated: 401,
    forbidden: 403,
    not_found: 404,
    gone: 410,
    busy: 409,
    full: 413,
    key_reused: 422,
    too_many: 429,
    unavailable: 503,
  };

  it.each(Object.entries(expected))(
    '%s is %i on both surfaces, each in its shape',
    async (reason, status) => {
      const refuse = () => {
        throw new RefusedError(reason as RefusalReason, 'No, thank you', [{ path: 'a', message: 'b' }]);
      };
      await serve({ send: refuse, readMessages: refuse, snapshot: refuse });
      // No message is answered with a 404, as it creates its session.
      const isMessage = reason !== 'not_found';
      const headers = { 'X-Request-Id': 'mine-1' };
      const current = isMessage
        ? await server.ask('POST', '/api/chat?message=hi', { session, headers })
        : await server.ask('GET', `/api/sessions/${session}/messages`, { headers });
      expect([current.status, current.text]).toEqual([
        status,
        JSON.stringify({
          error: 'No, thank you',
          code: reason,
          request_id: 'mine-1',
          details: [{ path: 'a', message: 'b' }],
        }),
      ]);
      expect(current.headers.get('x-request-id')).toBe('mine-1');
      // The legacy chat is a stream: it reports a deleted thread by an event.
      if (reason === 'gone') return;
      const legacy = isMessage
        ? await server.ask('POST', '/api/thread/chat', { session, body: { text: 'hi' } })
        : await server.ask('GET', `/api/thread/state?session_id=${session}`);
      expect([legacy.status, legacy.text]).toEqual([status, '{"error":"No, thank you"}']);
      for (const { headers } of [current, legacy]) {
        expect(headers.get('retry-after')).toBe(status === 429 || status === 503 ? '1' : null);
        expect(headers.get('access-control-allow-origin')).toBe('*');
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
    },
  );

  it('says after how long to try again when the core knows', async () => {
    await serve({
      snapshot: () => {
        throw new RefusedError('too_many', 'Too many', [], 17);
      },
    });
    expect((await server.ask('GET', '/api/state', { session })).headers.get('retry-after')).toBe('17');
  });
});

describe('failures', () => {
  it('are 500 and say nothing but the id that the log has', async () => {
    await serve({ snapshot: () => Promise.reject(new Error('password=hunter2')) });
    const current = await server.ask('GET', '/api/state', { session });
    expect([current.status, current.json]).toEqual([
      500,
      { error: 'internal error', code: 'internal', request_id: current.headers.get('x-request-id') },
    ]);
    const legacy = await server.ask('GET', `/api/thread/state?session_id=${session}`);
    expect([legacy.status, legacy.text]).toEqual([500, '{"error":"internal error"}']);
    const ids = [current, legacy].map(({ headers }) => headers.get('x-request-id') ?? 'none');
    const failures = log.lines.filter((line) => line.startsWith('request failed'));
    expect(failures).toHaveLength(2);
    ids.forEach((id, i) => {
      expect(failures[i]).toContain(id);
      expect(failures[i]).toContain('hunter2');
    });
  });

  it('are 503 when the store does not answer', async () => {
    await serve({ snapshot: () => Promise.reject(new StoreUnavailableError('disk full at /data')) });
    const { status, headers, json, text } = await server.ask('GET', '/api/state', { session });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(json).toMatchObject({ code: 'unavailable' });
    expect(text).not.toContain('/data');
  });

  it('releases the faults of an answer that was not sent', async () => {
    const confirm = jest.fn();
    const release = jest.fn();
    const gone = new AbortController();
    await serve({
      send: (request) => Promise.resolve({ sessionId: request.session.id, turnId: 't', repeated: false }),
      turnEnded: (_, signal) => {
        setTimeout(() => {
          gone.abort();
        });
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve('over');
          });
        });
      },
      snapshot: () =>
        Promise.resolve(
          fakeSnapshot({ faults: { events: [{ n: 1, kind: 'SystemError', text: 'Oh' }], confirm, release } }),
        ),
    });
    const url = `${server.url}/api/chat?message=Hi`;
    const headers = { 'X-Session-Id': session, Prefer: 'wait=60' };
    await expect(fetch(url, { method: 'POST', headers, signal: gone.signal })).rejects.toThrow();
    while (release.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([0, 1]);
  });

  it('confirms the faults of an answer that was sent', async () => {
    const confirm = jest.fn();
    const release = jest.fn();
    const events = [{ n: 1, kind: 'SystemError', text: 'Oh' }] as const;
    await serve({ snapshot: () => Promise.resolve(fakeSnapshot({ faults: { events, confirm, release } })) });
    const { json } = await server.ask('GET', '/api/state', { session, headers: { 'If-None-Match': '*' } });
    expect(json).toMatchObject({ system_events: [{ SystemError: 'Oh' }] });
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([1, 0]);
    await server.ask('HEAD', '/api/state', { session });
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([1, 1]);
  });
});

describe('the list of Apps', () => {
  it('creates the session, and does not remove faults from the snapshots', async () => {
    const touch = jest.fn(() => Promise.resolve());
    await serve({ listApps: () => Promise.resolve([]), touch });
    expect((await server.ask('GET', '/api/control/apps', { session })).json).toEqual([]);
    expect(touch.mock.calls).toEqual([[{ id: session, ifUnknown: 'create' }]]);
  });
});

describe('paths and methods', () => {
  it('answers 404 in JSON for what is not there', async () => {
    await serve({});
    for (const path of ['/', '/api', '/api/', '/api/nothing', '/api/chat/more', '/currently/api/state']) {
      const { status, json } = await server.ask('GET', path);
      expect([path, status, json]).toEqual([
        path,
        404,
        { error: `there is nothing at ${path}`, code: 'not_found', request_id: expect.any(String) },
      ]);
    }
    expect((await server.ask('GET', '/legacy/api/nothing?secret=1')).text).toBe(
      '{"error":"there is nothing at /legacy/api/nothing"}',
    );
  });

  it.each([
    ['GET', '/api/chat', 'POST, OPTIONS'],
    ['PUT', '/api/state', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/sessions', 'POST, GET, HEAD, OPTIONS'],
    ['POST', `/api/sessions/${session}`, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['DELETE', '/legacy/api/thread/chat', 'POST, OPTIONS'],
    ['PROPFIND', '/health', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allow) => {
    await serve({});
    const { status, headers, json } = await server.ask(method, path);
    expect([status, headers.get('allow')]).toEqual([405, allow]);
    expect(json).toMatchObject({ error: `${method} is not allowed here: use ${allow}` });
    if (!path.startsWith('/legacy')) expect(json).toMatchObject({ code: 'method_not_allowed' });
    const options = await server.ask('OPTIONS', path);
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([204, allow, '']);
  });
});

describe('CORS', () => {
  const preflight = {
    Origin: 'https://page.example',
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'x-session-id',
  };

  it('answers preflights, on unknown paths too', async () => {
    await serve({});
    for (const path of [`/api/sessions/${session}`, '/legacy/api/thread/chat', '/nowhere']) {
      const { status, headers } = await server.ask('OPTIONS', path, { headers: preflight });
      expect([path, status]).toEqual([path, 204]);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,PATCH,DELETE,OPTIONS');
      expect(headers.get('access-control-allow-headers')).toBe(
        'X-Session-Id,SERVICE-APP-KEY,X-API-Key,Content-Type,Accept,Prefer,Idempotency-Key,If-None-Match,Last-Event-ID,X-Request-Id,X-Wallet-Proof',
      );
    }
  });

  it('exposes every response header, on errors too', async () => {
    await serve({});
    const { headers } = await server.ask('GET', '/nowhere', { headers: { Origin: 'https://page.example' } });
    const exposed = headers.get('access-control-expose-headers')?.split(',');
    expect(exposed).toEqual(
      expect.arrayContaining([
        ...['X-Event-Cursor', 'X-Total-Messages', 'ETag', 'Link', 'Preference-Applied', 'Retry-After'],
        ...['X-Request-Id', 'Deprecation', 'Sunset', 'Allow', 'RateLimit-Limit', 'RateLimit-Remaining'],
      ]),
    );
  });

  it('lets only the given origins in', async () => {
    const snapshot = () => Promise.resolve(fakeSnapshot());
    await serve({ snapshot }, { http: { corsOrigins: ['https://a.example', 'https://b.example'] } });
    const allowed = async (origin: string) => {
      const { headers } = await server.ask('GET', '/nowhere', { headers: { Origin: origin } });
      expect(headers.get('vary')).toContain('Origin');
      return headers.get('access-control-allow-origin');
    };
    expect(await allowed('https://b.example')).toBe('https://b.example');
    expect(await allowed('https://c.example')).toBeNull();
    const state = (tag: string) =>
      server.ask('GET', '/api/state', {
        session,
        headers: { Origin: 'https://a.example', 'If-None-Match': tag },
      });
    const first = await state('none');
    const again = await state(first.headers.get('etag') ?? '');
    expect([first.status, again.status]).toEqual([200, 304]);
    for (const { headers } of [first, again]) expect(headers.get('vary')).toBe('Origin, X-Session-Id');
  });

  it('guards against sniffing, framing and caching', async () => {
    await serve({});
    const { headers } = await server.ask('GET', '/nowhere');
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cache-control': 'no-store',
    });
    expect(headers.has('x-powered-by')).toBe(false);
  });
});

describe('the rate limit', () => {
  it('answers 429 in the shape of the surface, and spares probes and preflights', async () => {
    await serve({ health: () => Promise.resolve({ status: 'ok' }) }, { http: { rateLimit: 2 } });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await server.ask('GET', '/api/chat')).status);
    expect(statuses).toEqual([405, 405, 429]);
    const current = await server.ask('GET', '/api/state', { session });
    expect([current.status, current.json]).toEqual([
      429,
      { error: expect.any(String), code: 'rate_limited', request_id: expect.any(String) },
    ]);
    expect(Number(current.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(current.headers.get('ratelimit-limit')).toBe('2');
    const legacy = await server.ask('POST', '/api/thread/chat', { session });
    expect([legacy.status, fieldsOf(legacy.json)]).toEqual([429, ['error']]);
    expect((await server.ask('GET', '/nowhere')).status).toBe(429);
    for (const probe of ['/api/health', '/api/health/', '/API/HEALTH', '/health']) {
      expect((await server.ask('GET', probe)).status).toBe(200);
    }
    expect((await server.ask('OPTIONS', '/api/state')).status).toBe(204);
    // Ends like a probe and is none.
    expect((await server.ask('POST', '/api/control/health', { session })).status).toBe(429);
  });
});

describe('the count of the rate limit', () => {
  it.each([
    ['POST', '/api/control/nothing'],
    ['GET', '/api/control/nothing'],
    ['GET', '/legacy/api/control/nothing'],
    ['GET', '/api/chat'],
    ['GET', '/api/state'],
    ['GET', '/API/STATE'],
    ['GET', '/nowhere'],
    ['GET', '/current/api/sessions/%ff'],
  ])('has each request once: %s %s', async (method, path) => {
    await serve({}, { http: { rateLimit: 10 } });
    expect((await server.ask(method, path)).headers.get('ratelimit-remaining')).toBe('9');
  });
});

describe('requests with two Host headers', () => {
  it('count towards the rate limit', async () => {
    await serve({}, { http: { rateLimit: 2 } });
    const bytes =
      'GET /api/state HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\nConnection: close\r\n\r\n';
    const statuses: (string | undefined)[] = [];
    for (let sent = 0; sent < 3; sent++)
      statuses.push(/^HTTP\/1\.1 (\d+)/.exec(await sendRaw(server.url, bytes))?.[1]);
    expect(statuses).toEqual(['400', '400', '429']);
  });
});

describe('requests that are hardly HTTP', () => {
  it.each([
    [
      'headers over 1 MiB',
      `GET /api/state HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(1_100_000)}\r\n\r\n`,
      431,
    ],
    ['a URL over 1 MiB', `GET /api/state?x=${'x'.repeat(3_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['garbage', 'what is this\r\n\r\n', 400],
    ['a bad header', 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n', 400],
  ])('answers %s in JSON', async (_, bytes, status) => {
    await serve({ health: () => Promise.resolve({ status: 'ok' }) });
    const answer = await sendRaw(server.url, bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
    expect(head).toContain('Content-Type: application/json; charset=utf-8');
    expect(head.toLowerCase()).toContain('access-control-allow-origin: *\r\n');
    expect(head.toLowerCase()).toMatch(/access-control-expose-headers: .*x-request-id/);
    expect(head.toLowerCase()).toContain('x-content-type-options: nosniff\r\n');
    expect(JSON.parse(body)).toEqual({
      error: expect.any(String),
      code: 'invalid',
      request_id: expect.any(String),
    });
    expect((await server.ask('GET', '/api/health')).status).toBe(200);
  });

  it('asks for the Host header of HTTP/1.1, in JSON, and expects nothing of an Expect header', async () => {
    await serve({ health: () => Promise.resolve({ status: 'ok' }) });
    const without = await sendRaw(server.url, 'GET /legacy/api/health HTTP/1.1\r\nConnection: close\r\n\r\n');
    expect(without).toMatch(/^HTTP\/1\.1 400 [^]*"error":"Host is required/);
    const old = await sendRaw(server.url, 'GET /api/health HTTP/1.0\r\n\r\n');
    expect(old).toMatch(/^HTTP\/1\.1 200 /);
    const expecting = 'Host: x\r\nExpect: wonders\r\nConnection: close';
    expect(await sendRaw(server.url, `GET /api/health HTTP/1.1\r\n${expecting}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 [^]*"status":"ok"/,
    );
  });

  it.each(['%E0%A4%A', '%', 'a%ff', '%C0%80'])('refuses ?message=%s, which is no UTF-8', async (given) => {
    await serve({});
    for (const path of ['/api/chat', '/current/api/chat']) {
      const { status, json } = await server.ask('POST', `${path}?message=${given}`, { session, body: {} });
      expect([path, status, json]).toMatchObject([
        path,
        400,
        { error: 'message is not percent-encoded UTF-8', details: [{ path: 'message' }] },
      ]);
    }
    expect((await server.ask('GET', `/nowhere?message=${given}`)).status).toBe(404);
  });

  it('takes headers of just under 1 MiB', async () => {
    await serve({});
    const { status } = await server.ask('GET', `/api/chat?x=${'x'.repeat(1_000_000)}`);
    expect(status).toBe(405);
  });

  it('answers what came before a broken request first', async () => {
    const gate = new Gate();
    await serve({
      snapshot: async () => {
        await gate.passed;
        return fakeSnapshot();
      },
    });
    const state = `GET /api/state HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n\r\n`;
    const broken = once(server.http.server, 'clientError');
    const answered = sendRaw(server.url, `${state}${state}\0bad\r\n\r\n`);
    await broken;
    gate.open();
    expect((await answered).match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 400',
    ]);
  });

  it('gives a broken HEAD request a status alone', async () => {
    await serve({});
    const headers = 'HTTP/1.1\r\nHost: x\r\n';
    const broken = `a:/x ${headers}\r\n`;
    const [head, get, later] = await Promise.all([
      sendRaw(server.url, `HEAD ${broken}`),
      sendRaw(server.url, `GET ${broken}`),
      sendRaw(server.url, `GET /healthz ${headers}\r\nHEAD ${broken}`),
    ]);
    expect(head).toMatch(/^HTTP\/1\.1 400 [^{]*\r\n\r\n$/);
    expect(get).toMatch(/^HTTP\/1\.1 400 [^{]*\r\n\r\n\{"/);
    expect(later).toMatch(/HTTP\/1\.1 400 [^{]*\r\n\r\n$/);
  });

  it.each([
    ['gzip, chunked', 501],
    ['gzip\r\nTransfer-Encoding: chunked', 501],
    ['Chunked', 400],
  ])('answers a request with Transfer-Encoding: %s with %i', async (coding, status) => {
    await serve({ send: () => Promise.reject(new Error('never asked')) });
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nConnection: close`;
    const answer = await sendRaw(
      server.url,
      `${head}\r\nTransfer-Encoding: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    expect(answer.includes('Transfer-Encoding must be chunked')).toBe(status === 501);
  });

  it('answers at once when the body of a request breaks', async () => {
    await serve({ send: () => Promise.reject(new Error('never asked')) });
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nTransfer-Encoding: chunked`;
    expect(await sendRaw(server.url, `${head}\r\n\r\n5\r\n{"a":\r\nzz\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('asks for no body that is too large for every route', async () => {
    await serve({});
    const head = (bytes: number) =>
      `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nExpect: 100-continue\r\nContent-Length: ${String(bytes)}`;
    expect(await sendRaw(server.url, `${head(10_000_000_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 413 /);
    const taken = await sendRaw(server.url, `${head(2)}\r\nConnection: close\r\n\r\n{}`);
    expect(taken).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('refuses a body that says it is too large before it has come', async () => {
    await serve({});
    const client = connectTo(server.url);
    client.write(
      `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nContent-Length: 3000000\r\n\r\n{`,
    );
    let answer = '';
    client.setEncoding('utf8').on('data', (text: string) => (answer += text));
    await once(client, 'data');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    client.destroy();
  });

  it('writes no error into an answer that has begun', async () => {
    await serve({ updates: () => Promise.resolve(idleFeed()) });
    const socket = connectTo(server.url);
    socket.write(`GET /api/updates HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n\r\n`);
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket.on('error', () => undefined);
    await once(socket, 'data');
    socket.write('garbage\r\n\r\n');
    await once(socket, 'close');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe('request ids and log lines', () => {
  it('takes a sane id from the caller and makes one otherwise', async () => {
    await serve({});
    const idOf = async (id: string) =>
      (await server.ask('GET', '/nowhere', { headers: { 'X-Request-Id': id } })).headers.get('x-request-id');
    expect(await idOf('abc-123_X.y:z')).toBe('abc-123_X.y:z');
    for (const bad of ['', 'two words', 'x'.repeat(129), '{"a":1}']) {
      expect(await idOf(bad)).toMatch(/^[0-9a-f]{32}$/);
    }
  });

  it('refuses an id that contains a key, or the session that it is for', async () => {
    await serve({ snapshot: () => Promise.resolve(fakeSnapshot()) });
    const other = randomUUID();
    const ask = async (path: string, id: string) =>
      (await server.ask('GET', path, { session, headers: { 'X-Request-Id': id } })).headers.get(
        'x-request-id',
      );
    for (const id of [session, `a-${session.toUpperCase()}`, `${other}:${session}`, 'x-sk-app-abc'])
      expect(await ask('/api/state', id)).toMatch(/^[0-9a-f]{32}$/);
    expect(await ask(`/api/sessions/${other}`, other)).toMatch(/^[0-9a-f]{32}$/);
    expect(await ask('/api/state', other)).toBe(other);
    expect(log.lines.join('\n')).not.toContain(session);
  });

  it('logs no session id in full that arrives as a request id, whatever the request names', async () => {
    await serve({ snapshot: () => Promise.resolve(fakeSnapshot()) });
    const other = randomUUID();
    const headers = { 'X-Request-Id': `a-${other}` };
    const answer = await server.ask('GET', '/api/state', { session, headers });
    expect(answer.headers.get('x-request-id')).toBe(`a-${other}`);
    await server.ask('GET', '/health', { headers: { 'X-Request-Id': other.toUpperCase() } });
    const escaped = `/api/sessions/%${other.charCodeAt(0).toString(16)}${other.slice(1)}`;
    await server.ask('GET', escaped, { headers });
    const logged = log.lines.join('\n');
    expect(logged.toLowerCase()).not.toContain(other);
    expect(logged).toContain(`"a-${other.slice(0, 8)}*"`);
  });

  it('logs one line for each request, with nothing of what was sent', async () => {
    await serve({ snapshot: () => Promise.resolve(fakeSnapshot()) });
    await server.ask('GET', `/api/state?user_state=%7B%22a%22%3A%22private%22%7D&client_id=capability`, {
      session,
    });
    await server.ask('GET', `/api/thread/state?session_id=${session}`);
    await server.ask('GET', '/private/path?q=private');
    await server.ask('GET', `/api/sessions/private`);
    const requests = log.lines.filter((line) => line.startsWith('request {'));
    const lines = requests.map((line): unknown => JSON.parse(line.slice('request '.length)));
    const common = { method: 'GET', ms: expect.any(Number), request_id: expect.any(String) };
    const mark = { session: expect.stringMatching(/^[0-9a-f]{8}$/) };
    expect(lines).toEqual([
      { ...common, ...mark, route: '/api/state', status: 200, surface: 'current' },
      { ...common, ...mark, route: '/api/thread/state', status: 200, surface: 'legacy' },
      { ...common, route: 'unknown', status: 404, surface: 'merged' },
      { ...common, route: '/api/sessions/:id', status: 400, surface: 'merged' },
    ]);
    expect(log.lines.join('\n')).not.toMatch(new RegExp(`private|capability|${session}`));
  });
});

/** A feed without items that ends when it is closed. */
function idleFeed() {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const close = () => {
    end();
  };
  return { overflowed: false, close, each: () => over };
}

describe('the end', () => {
  it('closes connections once it drains, and ends streams at the close', async () => {
    await serve({
      updates: () => Promise.resolve(idleFeed()),
      snapshot: () => Promise.resolve(fakeSnapshot()),
    });
    const stream = await fetch(`${server.url}/api/updates`, { headers: { 'X-Session-Id': session } });
    server.http.drain();
    const { status, headers } = await server.ask('GET', '/api/state', { session });
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    const closed = server.http.close(60_000);
    expect(await stream.text()).toBe('');
    await closed;
    expect(server.http.server.listening).toBe(false);
  });

  it('closes the connection of a stream that had begun before the drain, once the stream is over', async () => {
    const feed = idleFeed();
    await serve({ updates: () => Promise.resolve(feed) });
    const socket = connectTo(server.url);
    socket.write(`GET /api/updates HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n\r\n`);
    await once(socket.resume(), 'data');
    server.http.drain();
    feed.close();
    await once(socket, 'close');
  });

  it('cuts what does not end within the grace', async () => {
    let arrived: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (arrived = resolve));
    await serve({
      snapshot: () => {
        arrived();
        return new Promise(() => undefined);
      },
    });
    const answer = server.ask('GET', '/api/state', { session });
    const failed = expect(answer).rejects.toThrow();
    await asked;
    await server.http.close(1);
    await failed;
  });
});
