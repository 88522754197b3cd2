import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ModelHttpClient } from '../../src/adapters/models/http/client.js';
import { ConnectionError } from '../../src/adapters/models/http/connection-error.js';
import { createFetch } from '../../src/adapters/models/http/fetch.js';
import { sayScript, startUpstream, type Upstream } from '../support/upstream.js';
import { failure } from './ai-sdk-dialects.js';

/** What comes is lines: one without an end is cut off. */
const LINE = `${'x'.repeat(1023)}\n`;

describe('fetch', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  it('keeps connections', async () => {
    const fetch = createFetch();
    upstream.always(sayScript('hello'));
    for (let n = 0; n < 3; n++) expect(await (await fetch(upstream.url)).text()).toContain('hello');
    expect(upstream.connections).toBe(1);
    expect(upstream.requests).toHaveLength(3);
  });

  it('passes each chunk on as it comes', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    upstream.next(async (reply) => {
      reply.open();
      reply.raw('one');
      await gate;
      reply.raw('two');
    });
    const reader = (await createFetch()(upstream.url)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one');
    release();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('two');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('keeps pieces as they came, whatever comes on this connection or another one', async () => {
    const fetch = createFetch();
    const texts = ['first', 'other'];
    const pieces: Uint8Array[] = [];
    for (const text of texts) {
      upstream.next((reply) => {
        reply.open();
        reply.raw(text);
        return reply.hang();
      });
      const piece = (await (await fetch(upstream.url)).body?.getReader().read())?.value as unknown;
      if (piece instanceof Uint8Array) pieces.push(piece);
    }
    expect(pieces.map((piece) => Buffer.from(piece).toString())).toEqual(texts);
  });

  it('delivers everything of a large body to a slow reader', async () => {
    const size = 8 * 1024 * 1024;
    upstream.next((reply) => {
      reply.open({ connection: 'close' });
      reply.raw(LINE.repeat(size / LINE.length));
    });
    const response = await createFetch()(upstream.url);
    await upstream.request(0);
    let received = 0;
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      const chunk: unknown = read.value;
      received += chunk instanceof Uint8Array ? chunk.length : Number.NaN;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(received).toBe(size);
  });

  it.each([
    ['nests too deep', '['.repeat(1_001)],
    ['has too many values', '{},'.repeat(50_001)],
  ])('cuts off a line that %s, wherever the pieces of it end', async (_, json) => {
    const fits = json.slice(0, json.length / 2);
    upstream.next((reply) => {
      reply.open();
      reply.raw(`data: ${fits}`);
      reply.raw(`"${json}"\n\ndata: ${fits}\n\n`);
    });
    const response = await createFetch()(upstream.url);
    expect(await response.text()).toContain(`"${json}"`);
    upstream.next((reply) => {
      reply.open();
      reply.raw(`data: ${fits}`);
      reply.raw(json);
    });
    const cut = await createFetch()(upstream.url);
    await expect(cut.text()).rejects.toMatchObject({ code: 'complex_event' });
  });

  it('delivers what waits here when the provider has closed the connection', async () => {
    upstream.next((reply) => {
      reply.open({ connection: 'close' });
      for (let n = 0; n < 60; n++) reply.raw('piece');
    });
    const response = await createFetch()(upstream.url);
    expect(await upstream.requests[0]?.closed).toBe('complete');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await response.text()).toBe('piece'.repeat(60));
  });

  it('holds the provider back while nobody reads', async () => {
    upstream.next((reply) => {
      reply.open();
      for (let n = 0; n < 64; n++) reply.raw('x'.repeat(1024 * 1024));
    });
    const response = await createFetch()(upstream.url);
    let how = 'open';
    const closed = upstream.requests[0]?.closed.then((ending) => (how = ending));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(how).toBe('open');
    await response.body?.cancel();
    expect(await closed).toBe('aborted');
  });

  it('sends what it is given', async () => {
    upstream.next((reply) => {
      reply.json(418, { tea: true }, { 'x-kind': 'pot' });
    });
    const body = JSON.stringify({ a: 'ä' });
    const headers = { 'content-type': 'application/json', 'x-mine': '1' };
    const response = await createFetch()(`${upstream.url}/path?q=1`, { method: 'POST', headers, body });
    expect(response.status).toBe(418);
    expect(response.headers.get('x-kind')).toBe('pot');
    expect(await response.json()).toEqual({ tea: true });
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      path: '/path?q=1',
      body: { a: 'ä' },
      headers: { 'x-mine': '1' },
    });
  });

  it('says where it goes, by whose right, and how long its body is', async () => {
    const { host } = new URL(upstream.url);
    const known = upstream.url.replace('//', '//me:p%40ss@');
    const fetch = createFetch();
    for (const [url, init] of [
      [known, { method: 'POST', headers: { host: 'elsewhere', 'Content-Length': '1' }, body: '{"ä":1}' }],
      [known, { method: 'POST', headers: { authorization: 'Bearer key' } }],
      [upstream.url, {}],
    ] as const) {
      upstream.next((reply) => {
        reply.json(200, {});
      });
      await (await fetch(url, init)).text();
    }
    const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(upstream.requests.map(({ headers }) => headers)).toEqual([
      { host, authorization: basic, 'content-length': '8', connection: 'keep-alive' },
      { host, authorization: 'Bearer key', 'content-length': '0', connection: 'keep-alive' },
      { host, connection: 'keep-alive' },
    ]);
  });

  it('gives up on a silent provider, before and in an answer', async () => {
    upstream.next((reply) => reply.hang());
    const hasty = createFetch(new ModelHttpClient({ connectMs: 1_000, idleMs: 30 }));
    expect(await failure(hasty(upstream.url))).toMatchObject({ fault: 'idle' });
    upstream.next(async (reply) => {
      reply.open();
      await reply.hang();
    });
    // Long enough for the head of the answer to come on any machine.
    const patient = createFetch(new ModelHttpClient({ connectMs: 10_000, idleMs: 2_000 }));
    const response = await patient(upstream.url);
    expect(await failure(response.text())).toMatchObject({ fault: 'idle' });
    expect(await upstream.requests[1]?.closed).toBe('aborted');
  });

  it('does not wait for a reader who takes his time', async () => {
    const size = 16 * 1024 * 1024;
    upstream.next((reply) => {
      reply.open();
      reply.raw(LINE.repeat(size / LINE.length));
    });
    const response = await createFetch(new ModelHttpClient({ connectMs: 1_000, idleMs: 50 }))(upstream.url);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await response.arrayBuffer()).byteLength).toBe(size);
  });

  it('throws the reason of an abort, and does not start after one', async () => {
    const abort = new AbortController();
    upstream.next((reply) => reply.hang());
    const fetching = failure(createFetch()(upstream.url, { signal: abort.signal }));
    const request = await upstream.request(0);
    abort.abort('enough');
    expect(await fetching).toBe('enough');
    expect(await request.closed).toBe('aborted');
    expect(await failure(createFetch()(upstream.url, { signal: abort.signal }))).toBe('enough');
    expect(upstream.requests).toHaveLength(1);
  });

  it('names what is unreachable or not HTTP', async () => {
    const { url } = upstream;
    await upstream.close();
    const error = await failure(createFetch()(url));
    upstream = await startUpstream();
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ fault: 'unreachable', code: 'ECONNREFUSED' });
    upstream.next((reply) => {
      reply.drop();
    });
    expect(await failure(createFetch()(upstream.url))).toMatchObject({ fault: 'cut' });
  });
});

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  const closed = servers.splice(0).map((server) => once(server.close(), 'close'));
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(closed);
});

/** A server of bytes: what it does with a connection is the test's. @returns its URL */
async function startBytes(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return `http://127.0.0.1:${String(address.port)}`;
}

describe('the head of a response', () => {
  it.each([
    ['Latin-1', Buffer.from('Trop de requêtes', 'latin1')],
    ['UTF-8', Buffer.from('请求太多')],
  ])('can have words in %s', async (_encoding, words) => {
    const url = await startBytes((socket) => {
      socket.once('data', () => {
        const before = Buffer.from('HTTP/1.1 429 ');
        const header = Buffer.from('\r\nx-said: ');
        const end = Buffer.from('\r\ncontent-length: 2\r\n\r\nno');
        socket.write(Buffer.concat([before, words, header, words, end]));
      });
    });
    const response = await createFetch()(url);
    expect([response.status, await response.text()]).toEqual([429, 'no']);
  });
});

describe('a kept connection that died', () => {
  /** Answers the first request of the first connection, then resets it on the second, before a byte of an answer. */
  function startFickle(resets: { count: number }): Promise<string> {
    return startBytes((socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests++;
        if (requests > 1 || resets.count < 0) {
          resets.count++;
          socket.resetAndDestroy();
        } else {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        }
      });
    });
  }

  it('is replaced, once, without a word', async () => {
    const resets = { count: 0 };
    const url = await startFickle(resets);
    const fetch = createFetch();
    expect(await (await fetch(url)).text()).toBe('ok');
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect(await response.text()).toBe('ok');
    expect(resets.count).toBe(1);
  });

  it('is not retried when it was new', async () => {
    const resets = { count: -5 };
    const url = await startFickle(resets);
    expect(await failure(createFetch()(url))).toMatchObject({ fault: 'cut', code: 'ECONNRESET' });
    expect(resets.count).toBe(-4);
  });
});

describe('fetch over TLS', () => {
  // It is its own authority.
  const certificate = readFileSync(new URL('../support/tls/loopback.crt', import.meta.url));
  let connections = 0;
  const server = createTlsServer(
    { key: readFileSync(new URL('../support/tls/loopback.key', import.meta.url)), cert: certificate },
    (_, response) => {
      response.write('one');
      response.end('x'.repeat(1_000_000));
    },
  );
  server.on('secureConnection', () => connections++);
  beforeEach(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });

  it('gets all of an answer, and keeps the connection', async () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('there is no port');
    const fetch = createFetch(new ModelHttpClient(undefined, certificate));
    for (let n = 0; n < 2; n++) {
      const text = await (await fetch(`https://127.0.0.1:${String(address.port)}`)).text();
      expect([text.slice(0, 4), text.length]).toEqual(['onex', 1_000_003]);
    }
    expect(connections).toBe(1);
  });
});
