import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Place } from '../cli/running.js';
import { connectTo } from '../support/raw.js';

// The test starts a process.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

const HEALTH = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';

/**
 * Opens a connection and asks for the health. Resolves with the connection once it is answered; undefined: it was
 * refused.
 */
async function open(url: string): Promise<Socket | undefined> {
  const socket = connectTo(url);
  socket.on('error', () => undefined);
  socket.write(HEALTH);
  const answered = once(socket, 'data').then(
    () => socket,
    // A refused connection is reset when the request has come already.
    () => undefined,
  );
  return Promise.race([answered, once(socket, 'close').then(() => undefined)]);
}

/** Sends a message that calls a tool, and resolves with the response. */
async function chat(socket: Socket): Promise<string> {
  const body = JSON.stringify({ message: '/tool get_time {}' });
  const head = [
    'POST /api/chat HTTP/1.1',
    ...['Host: localhost', `X-Session-Id: ${randomUUID()}`, 'Prefer: wait=30'],
    `Content-Length: ${String(body.length)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  let response = '';
  socket.on('data', (data) => (response += data.toString()));
  while (!response.endsWith('}')) await once(socket, 'data');
  return response;
}

describe('a service that may open few descriptors', () => {
  it('refuses connections, logs it once, goes on with those it has, and recovers', async () => {
    // Enough to start with: modules are opened side by side, nearly all at once when the disk is slow.
    const { running, url } = await place.serveWithin(1_024);
    const connections = await Promise.all(Array.from({ length: 1_200 }, () => open(url)));
    const served = connections.filter((socket) => socket !== undefined);
    expect(served.length).toBeGreaterThan(5);
    expect(served.length).toBeLessThan(1_024);
    const [first] = served;
    if (first === undefined) throw new Error('every connection was refused');
    const response = await chat(first);
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
    expect(response).toContain('"tool_result":["get_time"');
    expect(running.out().match(/"msg":"refused connections"/g)).toHaveLength(1);
    for (const socket of served) socket.destroy();
    // The service notices that they are closed.
    while ((await open(url)) === undefined) expect(running.child.exitCode).toBeNull();
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
  });
});
