import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Connections } from '../../../src/http/connections/connections.js';
import { endInParts } from '../../../src/http/response/pieces.js';
import { countBody } from '../../../src/http/response/waiting-bodies.js';
import { connected, type Connected } from '../../support/connected.js';

/** The tests call `look` themselves: the timer never fires. */
const LOOK_MS = 300_000;
/** More than the buffers of the system hold. A client may take 60 s and 512 s for them: two looks. */
const BODY = Buffer.alloc(16 * 1_048_576);

let server: Server;
let connections: Connections;
let both: Connected;
let socket: Socket;
let response: ServerResponse;
let isStream: boolean;

beforeEach(async () => {
  isStream = false;
  server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    response = res;
    socket = req.socket;
    connections.begin(res);
    res.on('close', () => {
      connections.end(req);
    });
    server.emit('begun');
  });
  connections = new Connections(server, {
    idleMs: 1000 * LOOK_MS,
    lookMs: LOOK_MS,
    isOpenStream: (res) => isStream && res === response,
  });
  both = await connected(server);
  const begun = once(server, 'begun');
  both.client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
  await begun;
  both.client.pause();
});

afterEach(() => both.close());

describe('a response whose client does not read', () => {
  it('is closed after a minute and the time that its waiting bytes allow', async () => {
    response.end(BODY);
    look(2);
    expect(socket.destroyed).toBe(false);
    const closed = once(response, 'close');
    look(1);
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  it('is closed sooner while the long bodies that wait take much memory', async () => {
    countBody(response, 134_217_729);
    response.end(BODY);
    look(1);
    expect(socket.destroyed).toBe(false);
    const closed = once(response, 'close');
    look(1);
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  it('is not closed while its client reads slowly, however long the body', async () => {
    countBody(response, 134_217_729);
    endInParts(response, [BODY]);
    look(1);
    for (let reads = 0; reads < 2; reads++) {
      const before = socket.bytesWritten;
      both.client.resume();
      while (socket.bytesWritten === before) await once(response, 'drain');
      both.client.pause();
      look(1);
      expect(socket.destroyed).toBe(false);
    }
    look(1);
    expect(socket.destroyed).toBe(true);
  });

  it('gets more time whenever the socket takes bytes', async () => {
    const taken = new Promise<void>((resolve) => {
      response.write(BODY, () => {
        both.client.pause();
        response.end(BODY);
        resolve();
      });
    });
    look(2);
    both.client.resume();
    await taken;
    look(2);
    expect(socket.destroyed).toBe(false);
    look(1);
    expect(socket.destroyed).toBe(true);
  });

  it('is left alone while it is an open stream, and closed once the stream has ended', () => {
    isStream = true;
    response.write(BODY);
    look(10);
    expect(socket.destroyed).toBe(false);
    isStream = false;
    response.end();
    look(3);
    expect(socket.destroyed).toBe(true);
  });

  it('is left alone while nothing waits', () => {
    look(10);
    expect(socket.destroyed).toBe(false);
  });
});

function look(times: number): void {
  for (let time = 0; time < times; time++) connections.look();
}
