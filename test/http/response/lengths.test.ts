import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openHouse, type House } from '../../support/house.js';
import { connectTo, parseRaw, sendRaw } from '../../support/raw.js';

const SESSION = '6b1f5c1e-4f5e-4c59-9d8e-0f6f6a5d1c11';

describe('a response to HTTP/1.0', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house.close());

  const request = (path: string, more = '') =>
    `GET ${path} HTTP/1.0\r\nX-Session-Id: ${SESSION}\r\n${more}\r\n`;

  it.each(['/api/health', '/api/state', '/nothing'])(
    'has a Content-Length, so that a truncated one can be detected: %s',
    async (path) => {
      const received = await sendRaw(house.url, request(path));
      const [, body = ''] = received.split('\r\n\r\n', 2);
      expect(parseRaw(received).head).toContain(`Content-Length: ${String(Buffer.byteLength(body))}\r\n`);
    },
  );

  it('keeps the connection alive if the client asks for it', async () => {
    const client = connectTo(house.url).setEncoding('utf8');
    let received = '';
    const twice = new Promise<void>((resolve, reject) => {
      client.on('data', (text: string) => {
        received += text;
        if (received.match(/"status":"ok"/g)?.length === 2) resolve();
      });
      client.once('close', () => {
        reject(new Error('closed'));
      });
    });
    client.write(request('/api/health', 'Connection: keep-alive\r\n').repeat(2));
    await twice;
    client.destroy();
  });
});
