import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from '../../../src/http/connections/connections.js';
import { connected, type Connected } from '../../support/connected.js';

/** Far beyond the time of a test: it is looked when the test says so. */
const LOOK_MS = 3_600_000;
const IDLE_MS = 3 * LOOK_MS;

let server: Server;
let idle: Connections;
let both: Connected;
/** The connection of the client, as the server has it. */
let accepted: Socket | undefined;
/** The answers that are held open, in the order of their requests. */
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    idle.begin(res);
    res.on('close', () => {
      idle.end(req);
      server.emit('answered');
    });
    if (req.url === '/held') {
      held.push(res);
      server.emit('held');
    } else res.end('done');
  });
  idle = new Connections(server, { idleMs: IDLE_MS, lookMs: LOOK_MS, isOpenStream: () => false });
  server.on('connection', (socket) => (accepted = socket));
  both = await connected(server);
});

afterEach(() => both.close());

async function ask(path: string): Promise<void> {
  const answered = once(server, path === '/held' ? 'held' : 'answered');
  both.client.write(`GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`);
  await answered;
}

function openConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

function look(times: number): void {
  for (let time = 0; time < times; time++) idle.look();
}

describe('a connection that no request comes on any more', () => {
  it('is closed after its time, and its answers say how long that is', async () => {
    await ask('/');
    // The first look finds what the request has brought, the others nothing.
    look(3);
    expect(await openConnections()).toBe(1);
    const closed = once(both.client, 'close');
    look(1);
    await closed;
    expect(both.received()).toMatch(/\r\nKeep-Alive: timeout=10800\r\n/);
  });

  it('is left alone while an answer on it is open, also when another one is over', async () => {
    // Both at once, without waiting.
    await Promise.all([ask('/'), ask('/held')]);
    look(10);
    expect(await openConnections()).toBe(1);
    const closed = once(both.client, 'close');
    const answered = once(server, 'answered');
    held[0]?.end();
    await answered;
    look(4);
    await closed;
    expect(both.received().split('HTTP/1.1 200')).toHaveLength(3);
  });

  it('is left alone when a part of a request has come', async () => {
    await ask('/');
    look(3);
    await sendUntilRead('GET /');
    look(1);
    expect(await openConnections()).toBe(1);
    const answered = once(server, 'answered');
    both.client.write(' HTTP/1.1\r\nHost: here\r\n\r\n');
    await answered;
  });
});

describe('a connection that brings line breaks and no request', () => {
  it('is closed as any idle one', async () => {
    await ask('/');
    const closed = once(both.client, 'close');
    for (let time = 0; time < 4; time++) {
      await sendUntilRead('\r\n');
      look(1);
    }
    expect(await openConnections()).toBe(1);
    look(1);
    await closed;
  });
});

/** Sends, and waits until the server has read of it: nothing but a counter of its connection says so. */
async function sendUntilRead(text: string): Promise<void> {
  const before = accepted?.bytesRead;
  both.client.write(text);
  while (accepted?.bytesRead === before) await new Promise((resolve) => setImmediate(resolve));
}
