import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { keptLog } from '../support/core.js';
import { fakeCore, fakeSnapshot } from '../support/fake-core.js';
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
});
