import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { keptLog } from '../support/core.js';
import { fakeCore } from '../support/fake-core.js';
import { serveCore, type TestServer } from '../support/http.js';
import { parseRaw, sendRaw } from '../support/raw.js';

let server: TestServer;

async function serve(): Promise<void> {
  const core = fakeCore({ health: () => Promise.resolve({ status: 'ok' as const }) });
  server = await serveCore(core, { log: keptLog() });
}

afterEach(() => server.close());

const headers = (count: number) => Array.from({ length: count }, (_, n) => `X-${String(n)}: y\r\n`).join('');

it.each([
  ['its length', 'Content-Length: 2\r\n\r\n{}'],
  ['its coding', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
])('a request whose body is hidden behind a thousand headers is refused: %s', async (_, rest) => {
  await serve();
  const head = `POST /api/chat?message=Hi HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${randomUUID()}\r\nConnection: close\r\n`;
  const { status, body } = parseRaw(await sendRaw(server.url, head + headers(1_000) + rest));
  expect([status, body]).toEqual([
    431,
    expect.objectContaining({
      code: 'invalid',
      error:
        'the headers are too many or too large: at most 999 are accepted, and 1 MiB with the request line',
    }),
  ]);
});

it('a request with 999 headers is processed', async () => {
  await serve();
  const request = `GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers(997)}\r\n`;
  expect(parseRaw(await sendRaw(server.url, request)).status).toBe(200);
});

it('a chunked request of HTTP/1.0 closes its connection, because proxies of that version ignore the coding', async () => {
  await serve();
  const get = 'GET /api/health HTTP/1.0\r\nHost: x\r\n';
  const first = `${get}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  const sent = `${first}${get}\r\n`;
  const received = await sendRaw(server.url, sent);
  expect(received.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
  expect(received).toContain('Connection: close');
});
