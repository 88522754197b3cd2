import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { HttpSettings } from '../../src/http/settings.js';
import { serveScripted } from '../support/http.js';
import { parseRaw, sendRaw } from '../support/raw.js';

let server: Awaited<ReturnType<typeof serveScripted>>;

async function serve(http: Partial<HttpSettings> = {}): Promise<void> {
  server = await serveScripted({ http: { isLocal: true, corsOrigins: 'loopback', ...http } });
}

afterEach(() => server.close());

/** Sends a request as it stands and resolves with the status and the body of its response. */
async function send(
  target: string,
  headers: readonly string[],
  options: { readonly method?: string; readonly version?: string; readonly body?: string } = {},
): Promise<ReturnType<typeof parseRaw>> {
  const { method = 'GET', version = '1.1', body = '' } = options;
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...headers,
    'Connection: close',
    ...(body === '' ? [] : [`Content-Length: ${String(body.length)}`]),
  ];
  return parseRaw(await sendRaw(server.url, `${lines.join('\r\n')}\r\n\r\n${body}`));
}

describe('a service on a loopback address: Host', () => {
  beforeEach(() => serve());

  it.each([
    ...[
      'localhost',
      'localhost:8080',
      'LOCALHOST',
      'localhost.',
      'localhost.:8080',
      '127.0.0.1',
      '127.0.0.1:1',
    ],
    ...['127.0.0.2:8080', '[::1]', '[::1]:8080', '[0:0:0:0:0:0:0:1]:8080', '[::ffff:127.0.0.1]'],
  ])('takes %s', async (host) => {
    expect((await send('/health', [`Host: ${host}`])).status).toBe(200);
  });

  it.each([
    ...[
      'evil.example',
      'evil.example:8080',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '127.evil.example',
    ],
    ...['10.0.0.1', '0.0.0.0', '[::]', '[::2]', 'a@localhost', 'localhost/x', 'localhost#', '::1', '%', ''],
  ])('refuses %j with 421', async (host) => {
    const { status, body } = await send('/health', [`Host: ${host}`]);
    expect([status, body]).toEqual([421, expect.objectContaining({ code: 'misdirected' })]);
  });

  it('refuses an absolute request target of another host, whatever Host says, and takes one of its own', async () => {
    const local = ['Host: localhost'];
    expect((await send('http://evil.example/health', local)).status).toBe(421);
    expect((await send('http://localhost:8080/health', local)).status).toBe(200);
    expect((await send('http://localhost:8080/health', ['Host: evil.example'])).status).toBe(421);
  });

  it('takes a request of HTTP/1.0 without Host, which no browser sends', async () => {
    expect((await send('/health', [], { version: '1.0' })).status).toBe(200);
    expect((await send('/health', ['Host: evil.example'], { version: '1.0' })).status).toBe(421);
  });

  it('refuses on every kind of path, in the shape of its surface', async () => {
    const evil = ['Host: evil.example', `X-Session-Id: ${randomUUID()}`];
    const current = { error: expect.any(String), code: 'misdirected', request_id: expect.any(String) };
    for (const path of [
      '/',
      '/docs',
      '/metrics',
      '/admin',
      '/api/health',
      '/api/updates',
      '/nowhere',
      '/api/sessions/x',
    ])
      expect([path, (await send(path, evil)).body]).toEqual([path, current]);
    expect((await send('/current/api/state', evil)).body).toEqual(current);
    for (const path of [
      '/legacy/api/thread/state',
      '/legacy/nowhere',
      '/api/thread/updates',
      '/legacy/api/session/apps',
    ])
      expect([path, (await send(path, evil)).body]).toEqual([path, { error: expect.any(String) }]);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
    expect((await send('/api/updates', [...evil, ...upgrade])).status).toBe(421);
  });

  it('refuses before anything is written', async () => {
    const session = randomUUID();
    const headers = ['Host: evil.example', `X-Session-Id: ${session}`];
    expect((await send('/api/chat?message=hi', headers, { method: 'POST' })).status).toBe(421);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });
});

describe('a service on a loopback address: pages of other sites', () => {
  const host = 'Host: localhost:8080';

  /** Each of these is a request that browsers send without a preflight. */
  const chat = (session: string, ...headers: string[]) =>
    send('/api/thread/chat', [host, `X-Session-Id: ${session}`, 'Content-Type: text/plain', ...headers], {
      method: 'POST',
      body: '{"text":"hi"}',
    });

  it.each([
    ...[
      'http://localhost:8080',
      'http://localhost:3000',
      'http://127.0.0.1:5173',
      'http://[::1]:1',
      'http://localhost',
    ],
    'https://localhost:8443',
  ])('lets %s read and write', async (origin) => {
    await serve();
    const { status, head } = await send('/api/health', [host, `Origin: ${origin}`]);
    expect(status).toBe(200);
    expect(head.toLowerCase()).toContain(`\r\naccess-control-allow-origin: ${origin}`);
    expect(head).toMatch(/\r\nVary: Origin/i);
  });

  it.each([
    ...['https://evil.example', 'null', 'http://localhost.evil.example', 'http://127.0.0.1.evil.example', ''],
    ...['file://', 'http://localhost@evil.example', 'chrome-extension://abc', 'http://localhost/x'],
  ])('lets %j neither read nor write', async (origin) => {
    await serve();
    const session = randomUUID();
    const refused = await chat(session, `Origin: ${origin}`);
    expect([refused.status, refused.body]).toEqual([403, { error: expect.stringContaining('CORS_ORIGINS') }]);
    expect(refused.head).not.toMatch(/Access-Control-Allow-Origin/i);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
    for (const method of ['GET', 'OPTIONS'])
      expect((await send('/api/health', [host, `Origin: ${origin}`], { method })).status).toBe(403);
  });

  it('refuses what a page of another site loads without Origin, but lets people follow a link to a page', async () => {
    await serve();
    const foreign = [host, 'Sec-Fetch-Site: cross-site'];
    expect((await send('/api/health', [...foreign, 'Sec-Fetch-Mode: no-cors'])).status).toBe(403);
    expect((await send('/docs', [...foreign, 'Sec-Fetch-Mode: navigate'])).status).toBe(200);
    expect((await send('/api/health', [host, 'Sec-Fetch-Site: same-origin'])).status).toBe(200);
    expect((await send('/api/health', [host, 'Sec-Fetch-Site: none'])).status).toBe(200);
  });

  it('takes CORS_ORIGINS as it is set, and always its own pages', async () => {
    await serve({ corsOrigins: ['https://app.example'] });
    const status = async (...headers: string[]) => (await send('/api/health', [host, ...headers])).status;
    expect(await status('Origin: https://app.example')).toBe(200);
    expect(await status('Origin: http://localhost:8080')).toBe(200);
    expect(await status('Origin: http://localhost:3000')).toBe(403);
    expect(await status('Origin: null')).toBe(403);
    await server.close();
    await serve({ corsOrigins: '*' });
    expect(await status('Origin: https://evil.example')).toBe(200);
    expect(await status('Origin: null')).toBe(200);
    expect(await status('Sec-Fetch-Site: cross-site')).toBe(200);
    expect((await send('/api/health', ['Host: evil.example'])).status).toBe(421);
  });
});

describe('a service on any other address', () => {
  it('takes every Host and lets every page call', async () => {
    await serve({ isLocal: false, corsOrigins: '*' });
    const { status, head } = await send('/api/health', [
      'Host: chat.example',
      'Origin: https://evil.example',
    ]);
    expect(status).toBe(200);
    expect(head).toMatch(/\r\nAccess-Control-Allow-Origin: \*/i);
  });
});

describe('several Host headers', () => {
  it.each([['1.1'], ['1.0']])('are refused with HTTP/%s, also when they are equal', async (version) => {
    await serve({ isLocal: false, corsOrigins: '*' });
    const hosts = ['Host: a.example', 'HOST: a.example'];
    const { status, body } = await send('/api/health', hosts, { version });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid', details: [{ path: 'Host', message: expect.any(String) }] }),
    ]);
    expect((await send('/legacy/nowhere', hosts, { version })).body).toEqual({ error: expect.any(String) });
  });
});
