import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { allowedHosts } from '../../src/adapters/platform/net/allowed-hosts.js';
import { checkedLookup } from '../../src/adapters/platform/net/checked-lookup.js';
import {
  createGuardedFetch,
  type GuardedFetchOptions,
} from '../../src/adapters/platform/net/guarded-fetch.js';
import { isPublicAddress } from '../../src/adapters/platform/net/public-addresses.js';
import { Gate } from '../support/gate.js';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A server on loopback that counts every connection, so that a test sees when one was made that must not be. */
async function startSite(handler: Handler) {
  const server = createServer(handler);
  let connections = 0;
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    url: `http://127.0.0.1:${String(address.port)}`,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const loopback: readonly LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
let site: Awaited<ReturnType<typeof startSite>>;
let handle: Handler;

beforeEach(async () => {
  handle = (_req, res) => res.end('hello');
  site = await startSite((req, res) => {
    handle(req, res);
  });
});
afterEach(() => site.close());

function allowed(options: Partial<GuardedFetchOptions> = {}): typeof fetch {
  return createGuardedFetch({ allowHosts: [`127.0.0.1:${String(site.port)}`], ...options });
}

describe('what is refused', () => {
  it.each([
    'http://127.0.0.1',
    'http://127.1',
    'http://2130706433',
    'http://0x7f000001',
    'http://0x7f.0.0.1',
    'http://0177.0.0.1',
    'http://017700000001',
    'http://127.0.0.1.',
    'http://①②⑦.⓪.⓪.①',
    'http://0',
    'http://0.0.0.0',
    'http://[::1]',
    'http://[::]',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'http://[::127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://localhost',
    'http://localhost.',
    'http://LOCALHOST',
    'http://any.localhost',
    'http://example.com@127.0.0.1',
    'http://127.0.0.1%2f@127.0.0.1',
    'http://169.254.169.254',
    'http://[fd00:ec2::254]',
    'http://10.0.0.1',
    'http://100.64.0.1',
  ])('%s', async (origin) => {
    const guarded = createGuardedFetch({ allowHosts: [] });
    const url = `${origin}:${String(site.port)}/`;
    await expect(guarded(url)).rejects.toThrow(
      /is refused: it leads to a private or local address|must not hold a user name/,
    );
    expect(site.connections()).toBe(0);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,x',
    'gopher://127.0.0.1/',
    'javascript:1',
  ])('the scheme of %s', async (url) => {
    await expect(allowed()(url)).rejects.toThrow('Only http and https');
  });

  it('what is no URL, and credentials in one, without showing them', async () => {
    await expect(allowed()('/path')).rejects.toThrow('not a URL');
    const error: unknown = await allowed()(`http://me:hunter2@127.0.0.1:${String(site.port)}/`).catch(
      (e: unknown) => e,
    );
    expect(String(error)).toContain('must not hold a user name');
    expect(String(error)).not.toContain('hunter2');
  });

  it('a name that resolves to a private address, alone or among public ones', async () => {
    for (const addresses of [loopback, [{ address: '93.184.216.34', family: 4 }, ...loopback]]) {
      const guarded = createGuardedFetch({ allowHosts: [], resolve: () => Promise.resolve(addresses) });
      await expect(guarded(`http://harmless.test:${String(site.port)}/`)).rejects.toThrow(
        'harmless.test is refused',
      );
    }
    expect(site.connections()).toBe(0);
  });

  it('a name whose answer changes: what is handed to the socket is what was checked, each time', async () => {
    const answers = [[{ address: '93.184.216.34', family: 4 }], loopback];
    let asked = 0;
    const lookup = checkedLookup(() => Promise.resolve(answers[asked++] ?? loopback));
    const look = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        lookup('rebinding.test', { all: true }, (error, addresses) => {
          if (error) reject(error);
          else resolve(addresses);
        });
      });
    await expect(look()).resolves.toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(asked).toBe(1);
    await expect(look()).rejects.toThrow('rebinding.test is refused');
  });

  it('a redirect to a private address, by number or by name, also from an allowed host', async () => {
    const other = await startSite((_req, res) => res.end('secret'));
    const resolve = () => Promise.resolve(loopback);
    for (const target of [other.url, `http://inner.test:${String(other.port)}/`, 'file:///etc/passwd']) {
      handle = (_req, res) => res.writeHead(302, { location: target }).end();
      await expect(allowed({ resolve })(site.url)).rejects.toThrow(/is refused|Only http and https/);
    }
    expect(other.connections()).toBe(0);
    await other.close();
  });
});

describe('public addresses', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2001:4860:4860::8888',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...[
      '0.1.2.3',
      '10.255.0.1',
      '100.127.255.255',
      '127.255.255.255',
      '168.63.129.16',
      '169.254.0.1',
      '172.16.0.1',
    ],
    ...[
      '172.31.255.255',
      '192.0.0.192',
      '192.168.1.1',
      '198.19.255.255',
      '224.0.0.1',
      '239.1.1.1',
      '255.255.255.255',
    ],
    ...[
      '::',
      '::1',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
      '64:ff9b:1::1',
      'fc00::1',
      'fd12::1',
      'fe80::1',
      'fe80::1%lo',
    ],
    ...[
      'fec0::1',
      'ff02::1',
      '2001::1',
      '2001:db8::1',
      '2002:7f00:1::',
      '100::1',
      '2606:4700::1%lo',
      'example.com',
      '',
    ],
  ])('%s is none', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('allowed hosts', () => {
  it.each([
    ['mcp.internal', 'https://MCP.internal:8443/x', true],
    ['mcp.internal', 'http://mcp.internal./x', true],
    ['mcp.internal:443', 'https://mcp.internal/', true],
    ['mcp.internal:443', 'http://mcp.internal/', false],
    ['mcp.internal', 'http://x.mcp.internal/', false],
    ['::1', 'http://[::1]:9/', true],
    ['[::1]:9', 'http://[::1]:9/', true],
    ['[::1]:9', 'http://[::1]:10/', false],
    ['127.0.0.1:80', 'http://0x7f.1/', true],
  ])('%s and %s: %s', (entry, url, expected) => {
    expect(allowedHosts([entry])(new URL(url))).toBe(expected);
  });

  it.each(['http://x', 'a/b', 'user@host', ''])('"%s" is not written as one', (entry) => {
    expect(() => createGuardedFetch({ allowHosts: [entry] })).toThrow('host or host:port');
  });

  it('are asked like any other, at the address that the resolver gave', async () => {
    handle = (req, res) => res.end(`${req.method ?? ''} ${req.headers.host ?? ''} ${req.url ?? ''}`);
    const guarded = createGuardedFetch({
      allowHosts: ['mcp.test'],
      resolve: () => Promise.resolve(loopback),
    });
    const response = await guarded(`http://mcp.test:${String(site.port)}/a?b=c#d`);
    expect(response).toBeInstanceOf(Response);
    expect(await response.text()).toBe(`GET mcp.test:${String(site.port)} /a?b=c`);
  });
});

describe('fetching', () => {
  it('sends method, headers and every kind of body, and gives status, headers and JSON', async () => {
    const seen: string[] = [];
    handle = (req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        seen.push(
          `${req.method ?? ''} ${req.headers['content-type'] ?? ''} ${String(req.headers['x-key'])} ${body}`,
        );
        res
          .writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })
          .end('{"ok":true}');
      });
    };
    const headers = { 'x-key': 'k' };
    const response = await allowed()(site.url, { method: 'POST', headers, body: '{}' });
    expect(response.status).toBe(201);
    expect(response.url).toBe(`${site.url}/`);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    await expect(response.json()).resolves.toEqual({ ok: true });
    await allowed()(new Request(site.url, { method: 'PUT', body: new URLSearchParams({ a: 'b' }) }));
    expect(seen).toEqual([
      'POST text/plain;charset=UTF-8 k {}',
      'PUT application/x-www-form-urlencoded;charset=UTF-8 undefined a=b',
    ]);
  });

  it('gives a body piece by piece, and aborting ends it and the connection', async () => {
    const gone = new Gate();
    handle = (_req, res) => {
      res.write('data: 1\n\n');
      res.once('close', () => {
        gone.open();
      });
    };
    const controller = new AbortController();
    const response = await allowed()(site.url, { signal: controller.signal });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    const piece: unknown = first?.value;
    expect(piece instanceof Uint8Array && new TextDecoder().decode(piece)).toBe('data: 1\n\n');
    const next = reader?.read();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await gone.passed;
  });

  it('closes the connection when the body is cancelled before it is read', async () => {
    const gone = new Gate();
    handle = (_req, res) => {
      res.write('x'.repeat(500_000));
      res.once('close', () => {
        gone.open();
      });
    };
    const response = await allowed()(site.url);
    await response.body?.cancel();
    await gone.passed;
  });

  it('aborts before the answer with the reason', async () => {
    const arrived = new Gate();
    handle = () => {
      arrived.open();
    };
    const controller = new AbortController();
    const pending = allowed()(site.url, { signal: controller.signal });
    await arrived.passed;
    controller.abort(new Error('changed my mind'));
    await expect(pending).rejects.toThrow('changed my mind');
    await expect(allowed()(site.url, { signal: controller.signal })).rejects.toThrow('changed my mind');
  });

  it('gives up on a host that does not answer, or stops in the middle', async () => {
    handle = () => undefined;
    await expect(allowed({ headersMs: 50 })(site.url)).rejects.toThrow('too long to answer');
    handle = (_req, res) => res.write('half');
    const response = await allowed({ idleMs: 50 })(site.url);
    await expect(response.text()).rejects.toThrow('stopped sending in the middle');
  });

  it('bounds the size of an answer, announced or not', async () => {
    handle = (_req, res) => {
      res.write('x'.repeat(600));
      res.end('x'.repeat(600));
    };
    const response = await allowed({ maxBytes: 1000 })(site.url);
    await expect(response.text()).rejects.toThrow('too large');
    await expect(allowed({ maxBytes: 1200 })(site.url).then((r) => r.text())).resolves.toHaveLength(1200);
    handle = (_req, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('bomb');
    await expect(allowed()(site.url)).rejects.toThrow('compressed');
  });

  it('says that a host cannot be reached, without the URL', async () => {
    const allowHosts = [`127.0.0.1:${String(site.port)}`];
    await site.close();
    const error: unknown = await createGuardedFetch({ allowHosts })(`${site.url}/key-123`).catch(
      (e: unknown) => e,
    );
    expect(String(error)).toBe('GuardError: The host 127.0.0.1 could not be reached.');
    site = await startSite(() => undefined);
  });
});

describe('redirects', () => {
  it('keep headers within the origin, and lose all that may be keys when they leave it', async () => {
    const seen: unknown[] = [];
    const other = await startSite((req, res) => {
      seen.push(req.headers);
      res.end('there');
    });
    handle = (req, res) => {
      seen.push(req.headers);
      const location = req.url === '/' ? '/second' : other.url;
      res.writeHead(307, { location }).end();
    };
    const guarded = createGuardedFetch({ allowHosts: ['127.0.0.1'] });
    const headers = { authorization: 'Bearer t', cookie: 'c=1', 'x-api-key': 'k', accept: 'text/plain' };
    const response = await guarded(site.url, { headers });
    expect(await response.text()).toBe('there');
    expect(response.redirected).toBe(true);
    expect(response.url).toBe(`${other.url}/`);
    const all = { authorization: 'Bearer t', cookie: 'c=1', 'x-api-key': 'k', accept: 'text/plain' };
    expect(seen[0]).toMatchObject(all);
    expect(seen[1]).toMatchObject(all);
    expect(seen[2]).toMatchObject({ accept: 'text/plain' });
    expect(JSON.stringify(seen[2])).not.toMatch(/authorization|cookie|x-api-key/);
    await other.close();
  });

  it.each([
    [302, 'POST', 'GET '],
    [303, 'PUT', 'GET '],
    [307, 'POST', 'POST body'],
    [308, 'PUT', 'PUT body'],
    [301, 'PUT', 'PUT body'],
  ])('%d of a %s goes on as "%s"', async (status, method, expected) => {
    handle = (req, res) => {
      if (req.url === '/') {
        res.writeHead(status, { location: '/next' }).end();
        return;
      }
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => res.end(`${req.method ?? ''} ${body}`));
    };
    const response = await allowed()(site.url, { method, body: 'body' });
    expect(await response.text()).toBe(expected);
  });

  it('are followed five times, and not when that is not wanted', async () => {
    let left = 5;
    handle = (_req, res) => {
      if (left-- > 0) res.writeHead(302, { location: '/again' }).end();
      else res.end('here');
    };
    await expect(allowed()(site.url).then((r) => r.text())).resolves.toBe('here');
    left = 6;
    await expect(allowed()(site.url)).rejects.toThrow('too many redirects');
    left = 1;
    await expect(allowed()(site.url, { redirect: 'error' })).rejects.toThrow('redirects elsewhere');
    left = 1;
    const manual = await allowed()(site.url, { redirect: 'manual' });
    expect([manual.status, manual.headers.get('location')]).toEqual([302, '/again']);
    await manual.text();
  });
});
