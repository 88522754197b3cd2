import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Core } from '../../src/core/api.js';
import type { Sent } from '../../src/core/model/send-request.js';
import { keptLog } from '../support/core.js';
import { fakeCore, fakeSnapshot } from '../support/fake-core.js';
import { Gate } from '../support/gate.js';
import { serveCore, type TestServer } from '../support/http.js';
import { connectTo, sendRaw } from '../support/raw.js';

const session = randomUUID();
let server: TestServer;
let log = keptLog();

async function serve(methods: Parameters<typeof fakeCore>[0]): Promise<void> {
  log = keptLog();
  server = await serveCore(fakeCore(methods), { log });
}

afterEach(() => server.close());

describe('a refused request whose body is still being sent', () => {
  it('reads the rest of a refused body before it closes the connection', async () => {
    await serve({});
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nConnection: close`;
    const client = connectTo(server.url);
    const failed = new Promise<Error>((resolve) => client.once('error', resolve));
    const ended = once(client, 'end').then(() => 'ended');
    client.write(`${head}\r\nContent-Length: 3000000\r\n\r\n`);
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 [^]*\r\nContent-Length: \d+\r\n/i);
    client.write(Buffer.alloc(3_000_000, 'x'));
    expect(await Promise.race([ended, failed])).toBe('ended');
  });

  it('processes no request behind a response that closes the connection', async () => {
    const snapshot = jest.fn(() => Promise.resolve(fakeSnapshot()));
    await serve({ snapshot });
    const client = connectTo(server.url);
    client.on('error', () => undefined);
    const ended = once(client, 'end');
    client.write(
      `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n`,
    );
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    const next = `GET /api/state HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n\r\n`;
    client.write(Buffer.concat([Buffer.alloc(3_000_000, 'x'), Buffer.from(next)]));
    await ended;
    expect(snapshot).not.toHaveBeenCalled();
  });

  it('logs a response that waits for the rest of the body as complete, with its own time', async () => {
    await serve({});
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nConnection: close`;
    const client = connectTo(server.url);
    client.write(`${head}\r\nContent-Length: 3000000\r\n\r\n`);
    await once(client, 'data');
    const closed = once(client, 'close');
    client.destroy();
    await closed;
    await server.close();
    expect(log.lines).toEqual([expect.stringMatching(/^request \{.*"status":413/)]);
    expect(log.lines[0]).not.toContain('aborted');
  });

  it('is logged when the server closes before its end', async () => {
    await serve({});
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nConnection: close`;
    const client = connectTo(server.url);
    client.on('error', () => undefined);
    client.write(`${head}\r\nContent-Length: 3000000\r\n\r\n`);
    await once(client, 'data');
    await server.http.close(0);
    expect(log.lines).toEqual([expect.stringMatching(/^request \{.*"status":413/)]);
  });

  it('closes the connection of a client that goes on sending, or does not send the rest', async () => {
    await serve({});
    const head = `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nConnection: close`;
    const endless = connectTo(server.url);
    endless.on('error', () => undefined).resume();
    const send = (): void => {
      while (endless.write(Buffer.alloc(65_536, 'x')));
    };
    endless.on('drain', send);
    endless.write(`${head}\r\nContent-Length: 1000000000\r\n\r\n`);
    send();
    await new Promise((resolve) => endless.once('close', resolve));
    expect(endless.bytesWritten).toBeLessThan(64 * 1_048_576);
    expect(await sendRaw(server.url, `${head}\r\nContent-Length: 3000000\r\n\r\nx`)).toMatch(
      /^HTTP\/1\.1 413 /,
    );
  });

  it('refuses a chunked body that passes the limit while the client goes on sending', async () => {
    await serve({});
    const client = connectTo(server.url);
    client.on('error', () => undefined);
    const closed = new Promise((resolve) => client.once('close', resolve));
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const send = (): void => {
      while (client.write(chunk));
    };
    client.on('drain', send);
    client.write(
      `POST /api/chat HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    send();
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 [^]*\r\nConnection: close\r\n/);
    await closed;
  });
});

describe('a body that the response does not wait for', () => {
  const head = (line: string, more = '') =>
    `${line} HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n${more}\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n';
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const sent: Sent = { sessionId: session, turnId: randomUUID(), repeated: false };
  const methods = {
    interrupt: () => Promise.resolve(false),
    snapshot: () => Promise.resolve(fakeSnapshot()),
    send: () => Promise.resolve(sent),
    health: () => Promise.resolve({ status: 'ok' as const }),
  };

  it.each([
    ['POST /api/chat?message=Hi', chunked, 200],
    ['POST /api/chat?message=Hi', 'Content-Length: 10000000000\r\n', 200],
    ['POST /api/interrupt', chunked, 200],
    ['POST /api/interrupt', 'Content-Length: 10000000000\r\n', 200],
    ['POST /api/nowhere', chunked, 404],
    ['POST /api/tools', 'Content-Length: 10000000000\r\n', 413],
  ])('costs the client its connection when it goes on without end: %s, %s', async (line, framing, status) => {
    await serve(methods);
    const client = connectTo(server.url);
    client.on('error', () => undefined);
    const closed = new Promise((resolve) => client.once('close', resolve));
    const send = (): void => {
      while (client.write(framing === chunked ? chunk : Buffer.alloc(65_536, 'x')));
    };
    client.on('drain', send);
    client.write(head(line, framing));
    send();
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    await closed;
    expect(client.bytesWritten).toBeLessThan(64 * 1_048_576);
  });

  it('is not read while the response waits', async () => {
    const [waits, ended] = [new Gate(), new Gate()];
    const turnEnded = async () => {
      waits.open();
      await ended.passed;
      return 'over' as const;
    };
    await serve({ ...methods, turnEnded });
    const client = connectTo(server.url);
    client.on('error', () => undefined);
    client.write(head('POST /api/chat?message=Hi', `Prefer: wait=60\r\n${chunked}`));
    for (let sentBytes = 0; sentBytes < 64 * 1_048_576; sentBytes += chunk.length) client.write(chunk);
    const [connection] = (await once(server.http.server, 'connection')) as [Socket];
    await waits.passed;
    for (let n = 0; n < 50; n++) await server.ask('GET', '/api/health');
    expect(connection.bytesRead).toBeLessThan(16 * 1_048_576);
    ended.open();
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/);
    client.destroy();
  });

  it('leaves the connection open when it ends within the limit', async () => {
    await serve(methods);
    const client = connectTo(server.url);
    client.write(`${head('POST /api/interrupt', chunked)}2\r\n{}\r\n`);
    const [first] = (await once(client, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /);
    client.write(`${chunk}0\r\n\r\n${head('GET /api/health')}`);
    const [second] = (await once(client, 'data')) as [Buffer];
    expect(second.toString()).toMatch(/^HTTP\/1\.1 200 /);
    client.destroy();
  });
});

describe('a request whose body does not arrive in full', () => {
  const start = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Session-Id: ${session}\r\n`;
  const cut = 'Content-Length: 100\r\n\r\n{"app":"other"';

  it.each([
    ['is cut off', '/api/chat?message=cut', cut],
    ['is cut off, on POST /api/sessions', `/api/sessions?public_key=0x${'1'.repeat(40)}`, cut],
    ['has an invalid chunk', '/api/chat?message=cut', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n'],
  ])('is not processed when it %s', async (_, path, rest) => {
    const send = jest.fn<Core['send']>();
    const createSession = jest.fn<Core['createSession']>();
    await serve({ send, createSession, health: () => Promise.resolve({ status: 'ok' as const }) });
    const [[connection]] = await Promise.all([
      once(server.http.server, 'connection') as Promise<[Socket]>,
      sendAndEnd(start(path) + rest),
    ]);
    if (!connection.closed) await once(connection, 'close');
    // Whatever the broken request has begun comes before the response to the next one.
    await server.ask('GET', '/api/health');
    expect(send).not.toHaveBeenCalled();
    expect(createSession).not.toHaveBeenCalled();
  });

  /** Sends a part of a request, closes this side of the connection, and waits until the server has closed its own. */
  async function sendAndEnd(text: string): Promise<void> {
    const client = connectTo(server.url);
    client.on('error', () => undefined).resume();
    client.end(text);
    await once(client, 'close');
  }
});
