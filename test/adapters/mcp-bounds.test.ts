import { getEventListeners } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pauseAfter } from '../../src/adapters/tools/mcp/backoff.js';
import { createBoundedFetch } from '../../src/adapters/tools/mcp/bounded-fetch.js';
import { LineReader } from '../../src/adapters/tools/mcp/lines.js';
import { STREAM_GAP_MS } from '../../src/adapters/tools/mcp/stream-openings.js';
import { OneResponse } from '../../src/adapters/tools/mcp/lost-responses.js';
import { StdioTransport } from '../../src/adapters/tools/mcp/stdio-transport.js';
import { idOfCutAnswer, MAX_MESSAGE_BYTES } from '../../src/adapters/tools/mcp/oversize.js';

describe('lines', () => {
  function read(limit: number, chunks: readonly Buffer[]): string[] {
    const seen: string[] = [];
    const reader = new LineReader(
      limit,
      (line) => seen.push(line),
      (head, tail) => seen.push(`long: ${head.slice(0, 3)}…${tail.slice(-3)}`),
    );
    for (const chunk of chunks) reader.push(chunk);
    return seen;
  }
  const text = 'first\nsecond is éxtra long\n\n third\r\nnot ended';

  it('come out the same however the bytes are cut', () => {
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        bytes.subarray(n * size, (n + 1) * size),
      );
      expect(read(100, chunks)).toEqual(['first', 'second is éxtra long', ' third\r']);
      expect(read(8, chunks)).toEqual(['first', 'long: sec…ong', ' third\r']);
    }
  });

  it('use memory in proportion to their length, not to the number of chunks', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const reader = new LineReader(
      MAX_MESSAGE_BYTES,
      () => undefined,
      () => undefined,
    );
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 200_000; n++) reader.push(Buffer.from('x'));
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
    reader.push(Buffer.from('\n'));
  });

  it('have the limit itself as their greatest length', () => {
    expect(read(5, [Buffer.from('12345\n123456\n')])).toEqual(['12345', 'long: 123…456']);
  });
});

describe('an answer of which the middle was cut', () => {
  it('shows its id where its writer put it, and nowhere else', () => {
    expect(idOfCutAnswer('{"jsonrpc":"2.0","id":7,"result":{"content', '"}]}}')).toBe(7);
    expect(idOfCutAnswer('{"result":{"content', '"}]},"jsonrpc":"2.0","id":12}')).toBe(12);
    expect(idOfCutAnswer('{"result":{"content', '"x":{"id":12}}}')).toBeNull();
    expect(idOfCutAnswer('{"jsonrpc":"2.0","method":"x","id":3', '"}]}}')).toBeNull();
  });
});

describe('pauses', () => {
  it('double, are spread over half of themselves, and have a greatest', () => {
    const timing = { firstRetryMs: 100, maxRetryMs: 1_000 };
    const longest = [1, 2, 3, 4, 5, 500].map((failures) => pauseAfter(failures, timing, () => 1));
    expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(pauseAfter(3, timing, () => 0)).toBe(200);
  });
});

describe('a child that does not read its input', () => {
  it('is stopped once 16 MiB wait for it', async () => {
    const transport = new StdioTransport({
      ...{ command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], env: {}, cwd: null },
      ...{ closeMs: 50, parse: () => ({ jsonrpc: '2.0', method: 'x' }), onStderr: () => undefined },
    });
    const errors: string[] = [];
    transport.onerror = (error) => errors.push(error.message);
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
    await transport.start();
    const message = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 * 1024) } } as const;
    const sent = Array.from({ length: 18 }, () => transport.send(message));
    await Promise.allSettled(sent);
    await expect(sent.at(-1)).rejects.toThrow('does not read its input');
    await closed;
    expect(errors).toContain('The server does not read its input.');
  });
});

describe('a child that prints without end', () => {
  it('leaves time for other work between its lines', async () => {
    const print = "process.stdout.write(('x'.repeat(999) + '\\n').repeat(60))";
    const bursts: number[] = [];
    let lines = 0;
    const transport = new StdioTransport({
      ...{ command: process.execPath, args: ['-e', print], env: {}, cwd: null, closeMs: 50 },
      parse: () => {
        if (lines++ === 0) {
          void setImmediate().then(() => {
            bursts.push(lines);
            lines = 0;
          });
        }
        const until = performance.now() + 5;
        while (performance.now() < until) continue;
        throw new Error('not a message');
      },
      onStderr: () => undefined,
    });
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve));
    await transport.start();
    await closed;
    expect(bursts.reduce((sum, burst) => sum + burst, lines)).toBe(60);
    expect(Math.max(...bursts)).toBeLessThan(20);
  });
});

describe('OneResponse', () => {
  it('passes on the first response to a request, and none to a cancelled one', async () => {
    const inner: Transport = {
      start: () => Promise.resolve(),
      send: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    const transport = new OneResponse(inner);
    const ids: unknown[] = [];
    transport.onmessage = (message) => ids.push('id' in message ? message.id : null);
    for (const id of [1, 2]) await transport.send({ jsonrpc: '2.0', id, method: 'tools/call' });
    const params = { requestId: 1, reason: 'cancelled' };
    await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    for (const id of [1, 2, 2]) inner.onmessage?.({ jsonrpc: '2.0', id, result: {} });
    expect(ids).toEqual([2]);
  });
});

describe('a bounded fetch', () => {
  const servers: Server[] = [];
  let closed: Promise<unknown>[] = [];
  afterEach(async () => {
    closed = [];
    await Promise.all(
      servers.splice(0).map((server) => {
        const end = new Promise((resolve) => server.close(resolve));
        // After an aborted response, fetch connects again and keeps that connection, without a request, for a while.
        server.closeAllConnections();
        return end;
      }),
    );
  });

  async function serve(listener: RequestListener): Promise<URL> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new URL(`http://127.0.0.1:${String(address.port)}/mcp`);
  }

  async function ask(type: string, parts: readonly string[], init: RequestInit = {}): Promise<string> {
    const url = await serve((req, res) => {
      closed.push(new Promise((resolve) => req.socket.once('close', resolve)));
      res.writeHead(200, { 'content-type': type, connection: 'close' });
      for (const part of parts) res.write(part);
      res.end();
    });
    const response = await createBoundedFetch(url, new AbortController().signal, () => undefined)(url, init);
    return response.text();
  }
  const quarter = 'x'.repeat(MAX_MESSAGE_BYTES / 4);
  const call = { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call' }) };

  it.each(['\n\n', '\r\n\r\n', '\r\r'])(
    'takes a stream of any length whose events are small (%j)',
    async (end) => {
      const events = Array.from({ length: 8 }, () => `data: ${quarter}${end}`);
      expect(await ask('text/event-stream', events, call)).toHaveLength(events.join('').length);
    },
  );

  it('puts a failure in the place of an event that is too large', async () => {
    const lines = Array.from({ length: 5 }, () => `data: ${quarter}\n`);
    const got = await ask('text/event-stream', ['data: {}\n\n', ...lines, '\n'], call);
    expect(got.length).toBeLessThan(MAX_MESSAGE_BYTES + 1_000);
    const events = got.split('\n\n').filter((event) => event !== '');
    expect(JSON.parse(events.at(-1)?.replace('data: ', '') ?? '')).toMatchObject({
      id: 5,
      result: { isError: true },
    });
  });

  it('ends a body, or a stream that answers nothing, with an error, and closes the connection', async () => {
    const five = Array.from({ length: 5 }, () => quarter);
    await expect(ask('application/json', five, call)).rejects.toThrow('too large');
    await expect(ask('text/event-stream', ['data: ', ...five])).rejects.toThrow('too large');
    expect(closed).toHaveLength(2);
    await Promise.all(closed);
  });

  it('ends what would take long to parse, however small it is, and counts each event by itself', async () => {
    const deep = '['.repeat(1_000);
    await expect(ask('application/json', [deep], call)).rejects.toThrow('too large');
    // Brackets that close nothing in a comment make no room for others.
    const eased = `: ${']'.repeat(2_000)}\ndata: ${deep}\n\n`;
    expect(await ask('text/event-stream', [eased], call)).toContain('too many values');
    const many = `[${'0,'.repeat(12_000)}0]`;
    const events = [`data: ${many}\n\n`, `data: ${many}\r\n\r\n`];
    expect(await ask('text/event-stream', events, call)).toBe(events.join(''));
    // Quotes in a comment hide nothing of the line behind it.
    const hidden = `: "\ndata: ${many.slice(0, -1)},${many.slice(1)}\n\n`;
    expect(await ask('text/event-stream', [...events, hidden], call)).toContain('too many values');
    const got = await ask(
      'text/event-stream',
      [...events, `data: ${many.slice(0, -1)}`, many.slice(1)],
      call,
    );
    expect(got).toContain('has too many values');
  });

  it('ends the connection once 64 responses wait for a server that does not accept them', async () => {
    const url = await serve(() => undefined);
    const ended = new AbortController();
    let floods = 0;
    const fetched = createBoundedFetch(url, new AbortController().signal, () => floods++);
    const send = (message: object) =>
      fetched(url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
        signal: ended.signal,
      });
    const waiting = Array.from({ length: 64 }, (_, id) => send({ id, result: {} }));
    await expect(send({ id: 64, result: {} })).rejects.toThrow('does not accept the responses');
    expect(floods).toBe(1);
    // Requests of this side are no responses.
    waiting.push(send({ id: 1, method: 'tools/list' }));
    expect(floods).toBe(1);
    ended.abort();
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(65).fill('rejected'));
  });

  it.each([
    ['empty', (res: ServerResponse) => res.end()],
    ['unfinished', (res: ServerResponse) => res.write('x'.repeat(65_536))],
  ])('retains nothing of a request whose response is not read (%s)', async (_what, send) => {
    const url = await serve((_req, res) => {
      res.writeHead(202);
      send(res);
    });
    const lasting = new AbortController();
    const fetched = createBoundedFetch(url, lasting.signal, () => undefined);
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
    const response = await fetched(url, { method: 'POST', body, signal: lasting.signal });
    expect(getEventListeners(lasting.signal, 'abort')).toHaveLength(1);
    await response.body?.cancel();
    await setImmediate();
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([]);
  });

  it('opens streams at least 50 ms apart when the server ends each immediately', async () => {
    const url = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n');
    });
    const fetched = createBoundedFetch(url, new AbortController().signal, () => undefined);
    const before = performance.now();
    await Promise.all(Array.from({ length: 5 }, async () => (await fetched(url, { method: 'GET' })).text()));
    // Timers may fire a millisecond early.
    expect(performance.now() - before).toBeGreaterThan(4 * STREAM_GAP_MS - 5);
  });

  // Far more than the streams of running calls that a restart of a proxy ends.
  it('closes the connection once 1,024 streams wait to be opened, and opens none after that', async () => {
    let opened = 0;
    const url = await serve((_req, res) => {
      opened++;
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    });
    const connection = new AbortController();
    let floods = 0;
    const fetched = createBoundedFetch(url, connection.signal, () => {
      floods++;
      connection.abort();
    });
    const open = () => fetched(url, { method: 'GET', signal: connection.signal });
    const first = await open();
    await first.text();
    const waiting = Array.from({ length: 1_024 }, open);
    expect(floods).toBe(0);
    await expect(open()).rejects.toThrow('ends its streams');
    expect(floods).toBe(1);
    // The SDK takes 405 to mean that there is no stream, and does not try again.
    const statuses = await Promise.all(waiting.map(async (response) => (await response).status));
    expect(statuses).toEqual(Array(1_024).fill(405));
    expect(opened).toBe(1);
  });

  it('asks nothing of another origin', async () => {
    const fetched = createBoundedFetch(
      new URL('http://127.0.0.1:1/mcp'),
      new AbortController().signal,
      () => undefined,
    );
    await expect(fetched('https://127.0.0.1:1/mcp')).rejects.toThrow('redirects to another origin');
    await expect(fetched('http://localhost:1/mcp')).rejects.toThrow('redirects to another origin');
  });
});
