import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { keptLog } from '../support/core.js';
import { fakeCore } from '../support/fake-core.js';
import { openHouse } from '../support/house.js';
import { serveCore, type TestServer } from '../support/http.js';
import { parseScrape } from '../support/prometheus.js';
import { connectTo, parseRaw, sendRaw } from '../support/raw.js';

const MIB = 1_048_576;
const GARBAGE = 'SECRET /secret-path?q=secret-words nothing\r\n\r\n';
const TOO_LONG = `GET /secret-path?q=${'x'.repeat(3 * MIB)} HTTP/1.1\r\nHost: x\r\n\r\n`;

let server: TestServer;
let log = keptLog();

async function serve(http: NonNullable<Parameters<typeof serveCore>[1]['http']> = {}): Promise<void> {
  log = keptLog();
  server = await serveCore(fakeCore({}), { log, http });
}

afterEach(() => server.close());

/** Opens a connection with a part of a request, and reports a timeout of Node's parser for it. */
async function timeOut(part = 'GET /secret-path HTTP/1.1\r\n'): Promise<string> {
  const { server: listening } = server.http;
  const accepted = once(listening, 'connection') as Promise<[Socket]>;
  const client = connectTo(server.url).setEncoding('utf8');
  client.write(part);
  const [socket] = await accepted;
  while (socket.bytesRead < part.length) await setImmediate();
  const error = Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  listening.emit('clientError', error, socket);
  let received = '';
  client.on('data', (text: string) => (received += text));
  await once(client, 'end');
  client.destroy();
  return received;
}

/** The lines of requests in the log. */
const requests = () => log.lines.filter((line) => line.startsWith('request '));

describe('a request that could not be parsed', () => {
  it.each([
    ['non-ASCII text', 'POST /api/chat?message=Grüße HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a space', 'POST /api/chat?message=a b HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])('gets an error that says how to encode %s in a URL', async (_what, request) => {
    await serve();
    const { status, body } = parseRaw(await sendRaw(server.url, request));
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: expect.stringContaining('%20') });
  });

  it.each([
    ['another version', 'GET /healthz HTTP/1.2\r\nHost: localhost\r\n\r\n'],
    ['a version that is parsed', 'GET /healthz HTTP/2.0\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
    ['HTTP/2 without an upgrade', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('gets an error that names the version to use: %s', async (_what, request) => {
    await serve();
    const { status, body } = parseRaw(await sendRaw(server.url, request));
    expect(status).toBe(505);
    expect(body).toMatchObject({ code: 'invalid', error: expect.stringContaining('use HTTP/1.1') });
  });

  it.each([
    ['invalid', 400, () => sendRaw(server.url, GARBAGE)],
    ['too long', 431, () => sendRaw(server.url, TOO_LONG)],
    ['late', 408, () => timeOut()],
  ])('has one log line, with nothing that the client sent: %s', async (_, status, send) => {
    await serve();
    const { body, head } = parseRaw(await send());
    const id = /X-Request-Id: (\w+)/.exec(head)?.[1];
    expect(body).toMatchObject({ code: 'invalid', request_id: id });
    expect(log.fields).toEqual([
      {
        method: 'unknown',
        route: 'none',
        status,
        ms: expect.any(Number),
        request_id: id,
        surface: 'merged',
      },
    ]);
    expect(requests()).toHaveLength(1);
    expect(log.lines.join('\n')).not.toMatch(/secret/i);
  });

  it('has none if the connection was opened in advance, and never used', async () => {
    await serve();
    expect(await timeOut('')).toBe('');
    expect(log.lines).toEqual([]);
  });

  it('shares the log line of its response when only its body broke', async () => {
    await serve();
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${randomUUID()}\r\nX-Request-Id: mine`;
    const broken = `${head}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n`;
    expect(parseRaw(await sendRaw(server.url, broken)).body).toMatchObject({ request_id: 'mine' });
    await server.http.close(0);
    expect(requests()).toHaveLength(1);
    expect(log.fields).toMatchObject([
      { method: 'POST', route: '/api/chat', status: 400, request_id: 'mine' },
    ]);
  });

  it('counts in the metrics', async () => {
    const house = await openHouse({ metrics: { token: null } });
    server = house;
    for (const bytes of [GARBAGE, GARBAGE, TOO_LONG]) await sendRaw(house.url, bytes);
    const { value } = parseScrape((await house.ask('GET', '/metrics')).text);
    const alike = { surface: 'merged', method: 'other', route: 'none' };
    expect(value('diptych_http_requests_total', { ...alike, status: '400' })).toBe(2);
    expect(value('diptych_http_requests_total', { ...alike, status: '431' })).toBe(1);
    expect(value('diptych_http_request_duration_seconds_count', { route: 'none' })).toBeUndefined();
    // This very scrape.
    expect(value('diptych_http_requests_in_flight')).toBe(1);
  });
});

describe('the rate limit of requests that could not be parsed', () => {
  const remaining = async () => (await server.ask('GET', '/nowhere')).headers.get('ratelimit-remaining');

  it('counts them for their address, by their size, and refuses those over it with 429', async () => {
    await serve({ rateLimit: 19 });
    expect(parseRaw(await sendRaw(server.url, GARBAGE)).head).toContain('RateLimit-Remaining: 18\r\n');
    const long = parseRaw(await sendRaw(server.url, TOO_LONG));
    expect([long.status, long.head]).toEqual([431, expect.stringContaining('RateLimit-Remaining: 1\r\n')]);
    expect(await remaining()).toBe('0');
    const over = parseRaw(await sendRaw(server.url, GARBAGE));
    expect(over.status).toBe(429);
    expect(over.head).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n[^]*Retry-After: \d+\r\n/);
    expect(over.body).toMatchObject({ code: 'rate_limited', error: expect.stringContaining('more than 19') });
    expect(log.fields.at(-1)).toMatchObject({ method: 'unknown', route: 'none', status: 429 });
    expect((await server.ask('GET', '/nowhere')).status).toBe(429);
  });

  it('does not count them for a trusted proxy, whose clients they do not name', async () => {
    await serve({ rateLimit: 5, trustProxy: 1 });
    const { status, head } = parseRaw(await sendRaw(server.url, GARBAGE));
    expect([status, head]).toEqual([400, expect.not.stringContaining('\nRateLimit-')]);
    expect(await remaining()).toBe('4');
  });
});
