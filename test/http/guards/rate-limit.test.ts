import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Router } from 'express';
import { clientOf, forwardedClient } from '../../../src/http/request/client-address.js';
import { limitRate } from '../../../src/http/guards/rate-limit.js';
import { RequestWindows } from '../../../src/http/guards/request-windows.js';
import { createHttpServer, type HttpServer } from '../../../src/http/server.js';
import { createStreams } from '../../../src/http/sse/streams.js';
import { keptLog } from '../../support/core.js';
import { TEST_HTTP } from '../../support/http.js';

const MINUTE = 60_000;

describe('the window of a client', () => {
  it('begins with its first request, and again with the first one after its end', () => {
    const windows = new RequestWindows(MINUTE);
    expect(windows.count('a', 1_000)).toEqual({ cost: 1, endsAt: 61_000 });
    expect(windows.count('a', 60_999)).toEqual({ cost: 2, endsAt: 61_000 });
    expect(windows.count('b', 60_999)).toEqual({ cost: 1, endsAt: 120_999 });
    expect(windows.count('a', 61_000)).toEqual({ cost: 1, endsAt: 121_000 });
    expect(windows.count('b', 120_998)).toEqual({ cost: 2, endsAt: 120_999 });
  });

  it('is kept while it lasts, whenever the windows turn', () => {
    for (const begin of [0, 1, 29_999, 59_999]) {
      const windows = new RequestWindows(MINUTE);
      windows.count('other', 0);
      windows.count('a', begin);
      expect(windows.count('a', begin + MINUTE - 1).cost).toBe(2);
      expect(windows.count('a', begin + MINUTE).cost).toBe(1);
    }
  });

  it('is released when it is over, and the oldest one where there are too many', () => {
    const windows = new RequestWindows(MINUTE, 10);
    for (let n = 0; n < 100; n++) windows.count(`first ${String(n)}`, n);
    expect(windows.size).toBe(10);
    expect(windows.count('first 99', 100).cost).toBe(2);
    expect(windows.count('first 0', 100).cost).toBe(1);
    for (let n = 0; n < 100; n++) windows.count(`second ${String(n)}`, MINUTE + n);
    expect(windows.size).toBe(20);
    windows.count('a', 10 * MINUTE);
    expect(windows.size).toBe(1);
  });
});

describe('who is counted under a forwarded address', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:0102:0304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
    ['::1.2.3.4', '1.2.3.4'],
    ['', 'unknown'],
    ['unknown', 'unknown'],
    ['_hidden', 'unknown'],
    ['1.2.3.4.5', 'unknown'],
    ['1.2.3.4:80', '1.2.3.4'],
    ['[2001:db8:1:2ff::1]:80', '2001:db8:1:200::/56'],
    ['[2001:db8:1:2ff::1]', '2001:db8:1:200::/56'],
    ['2001:db8:1:2:3:4:5:6:7', 'unknown'],
    ['::1', '0:0:0:0::/56'],
    ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
    ['2001:DB8:1:200:ffff:ffff:ffff:ffff', '2001:db8:1:200::/56'],
    ['2001:db8:1:300::1', '2001:db8:1:300::/56'],
    ['2001:db8::', '2001:db8:0:0::/56'],
    ['fe80::1%eth0', 'fe80:0:0:0::/56'],
    ['2001:db8:1:2ff:0:0:1.2.3.4', '2001:db8:1:200::/56'],
  ])('%j is %j', (address, client) => {
    expect(forwardedClient(address)).toBe(client);
  });

  it('is who is counted under the same address of a connection', () => {
    for (const address of ['127.0.0.1', '::ffff:1.2.3.4', '::1', '2001:db8:1:2ff::1'])
      expect(clientOf(address)).toBe(forwardedClient(address));
  });
});

describe('the limit of requests', () => {
  let server: HttpServer | null = null;
  let now = 1_000_000;

  afterEach(async () => {
    await server?.close(0);
    server = null;
  });

  /** @param clock what the limit goes by; empty: its default */
  async function serve(
    rateLimit: number,
    trustProxy: boolean | number = false,
    clock: readonly (() => number)[] = [() => now],
  ): Promise<string> {
    const router = Router();
    const settings = { ...TEST_HTTP, rateLimit, trustProxy };
    router.all('/', ...limitRate(settings, ...clock).handlers, (_req, res) => {
      res.json({ ok: true });
    });
    server = createHttpServer({
      ...{ router, streams: createStreams(TEST_HTTP), log: keptLog(), http: settings },
      dialect: { name: 'test', keyHeader: 'X-Key', error: ({ code }) => ({ code }) },
    });
    const { server: listening } = server;
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    const address = listening.address();
    return `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}/`;
  }

  const asked = async (url: string, headers: Record<string, string> = {}) => {
    const { status, headers: got } = await fetch(url, { headers });
    const names = ['policy', 'limit', 'remaining', 'reset'].map((name) => got.get(`ratelimit-${name}`));
    return [status, ...names, got.get('retry-after')];
  };

  it('keeps a client waiting no longer than its window when the wall clock is set back', async () => {
    const url = await serve(1, false, []);
    expect(await asked(url)).toEqual([200, '1;w=60', '1', '0', '60', null]);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    try {
      const [status, , , , reset] = await asked(url);
      expect([status, Number(reset) <= 60]).toEqual([429, true]);
    } finally {
      clock.mockRestore();
    }
  });

  it('says on each answer how many are left and for how long, and when to come again', async () => {
    now = 1_000_000;
    const url = await serve(2);
    expect(await asked(url)).toEqual([200, '2;w=60', '2', '1', '60', null]);
    now += 15_500;
    expect(await asked(url)).toEqual([200, '2;w=60', '2', '0', '45', null]);
    now += 500;
    expect(await asked(url)).toEqual([429, '2;w=60', '2', '0', '44', '44']);
    now += 44_000;
    expect(await asked(url)).toEqual([200, '2;w=60', '2', '1', '60', null]);
  });

  it('believes X-Forwarded-For where a proxy is trusted, and nowhere else', async () => {
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const proxied = await serve(1, 1);
    const seen = [];
    for (const address of ['9.9.9.9', '9.9.9.8', '9.9.9.9', '2001:db8::1', '2001:db8:0:ff::1', 'x, 9.9.9.9'])
      seen.push((await asked(proxied, from(address)))[0]);
    expect(seen).toEqual([200, 200, 429, 200, 429, 429]);
    await server?.close(0);
    const bare = await serve(1);
    expect((await asked(bare, from('9.9.9.9')))[0]).toBe(200);
    expect((await asked(bare, from('9.9.9.8')))[0]).toBe(429);
  });

  it('counts a large request as several, by its target, its headers and the length that its body announces', async () => {
    now = 1_000_000;
    const url = await serve(100);
    const remaining = async (path: string, init: RequestInit = {}) => {
      const { headers } = await fetch(url + path, init);
      return Number(headers.get('ratelimit-remaining'));
    };
    expect(await remaining('')).toBe(99);
    expect(await remaining(`?${'x'.repeat(65_536)}`)).toBe(97);
    expect(await remaining('', { method: 'POST', body: 'x'.repeat(65_535) })).toBe(95);
    expect(await remaining('', { method: 'POST', body: 'x'.repeat(1_000_000) })).toBe(79);
    // A body of unknown length counts as the largest that is read.
    const body = new Blob(['x']).stream();
    expect(await remaining('', { method: 'POST', body, duplex: 'half' })).toBe(62);
    const headers = { 'X-One': 'x'.repeat(40_000), 'X-Other': 'x'.repeat(26_000) };
    expect(await remaining('', { headers })).toBe(60);
  });

  it('takes a large request as long as anything is left, and refuses the next', async () => {
    const url = await serve(2);
    const large = { method: 'POST', body: 'x'.repeat(1_000_000) };
    expect((await fetch(url, large)).status).toBe(200);
    expect((await fetch(url)).status).toBe(429);
  });
});
