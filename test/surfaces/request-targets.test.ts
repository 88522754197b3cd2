import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { serveScripted } from '../support/http.js';
import { parseRaw, sendRaw } from '../support/raw.js';

let server: Awaited<ReturnType<typeof serveScripted>>;

beforeEach(async () => {
  server = await serveScripted();
});
afterEach(() => server.close());

async function get(target: string): Promise<ReturnType<typeof parseRaw>> {
  const request = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  return parseRaw(await sendRaw(server.url, request));
}

it.each([
  'http://%zz@a/nowhere',
  'http://a[b/nowhere',
  'a://b/nowhere',
  '//%zz@a/#',
  'http://a:b/nowhere?x',
  '*',
])('the target %s gets a 404 in JSON, and the next request is served', async (target) => {
  const { status, body } = await get(target);
  expect({ status, body }).toEqual({
    status: 404,
    body: { error: expect.any(String), code: 'not_found', request_id: expect.any(String) },
  });
  expect((await get('http://%zz@a/api/health')).status).toBe(200);
  expect((await get('/api/health#top')).status).toBe(200);
});
