import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { connectionsWithin } from '../../../src/composition/descriptor-limit.js';
import { limitConnections } from '../../../src/http/connections/connection-limit.js';
import { portOf } from '../../support/answering.js';
import { connected } from '../../support/connected.js';
import { keptLog } from '../../support/core.js';

const FAILURE = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });

/** Opens a connection, and resolves once the server has it. */
async function connectTo(server: Server): Promise<Socket> {
  const accepted = once(server, 'connection');
  const socket = connect(portOf(server), '127.0.0.1');
  await accepted;
  return socket;
}

describe('limitConnections', () => {
  it('logs the first failure to accept, and that connections are accepted again after a quiet minute', async () => {
    let now = 0;
    const { lines, ...log } = keptLog();
    const server = createServer();
    limitConnections(server, { max: null, log, now: () => now });
    const both = await connected(server);
    for (let n = 0; n < 3; n++) server.emit('error', FAILURE);
    expect(lines).toEqual(['refused connections {"reason":"EMFILE","max":null}']);
    now = 59_999;
    const early = await connectTo(server);
    expect(lines).toHaveLength(1);
    now = 60_000;
    const late = await connectTo(server);
    expect(lines.slice(1)).toEqual(['accepted connections again {}']);
    server.emit('error', FAILURE);
    expect(lines).toHaveLength(3);
    early.destroy();
    late.destroy();
    await both.close();
  });

  it('closes connections above the limit', async () => {
    const { lines, ...log } = keptLog();
    const server = createServer();
    limitConnections(server, { max: 1, log });
    const accepted = once(server, 'connection');
    const both = await connected(server);
    await accepted;
    const dropped = once(server, 'drop');
    const refused = connect(portOf(server), '127.0.0.1');
    await Promise.all([dropped, once(refused, 'close')]);
    expect(lines).toEqual(['refused connections {"reason":"too many connections","max":1}']);
    await both.close();
  });
});

describe('connectionsWithin', () => {
  const limits = (soft: string) =>
    `Limit   Soft Limit  Hard Limit  Units\nMax open files            ${soft}   1048576    files\n`;

  it.each([
    ['80', 1],
    ['256', 128],
    ['1024', 704],
    ['20000', 19_680],
  ])('keeps descriptors of %s for the service itself', (soft, connections) => {
    expect(connectionsWithin(limits(soft))).toBe(connections);
  });

  it('knows no limit where the system states none', () => {
    expect(connectionsWithin(limits('unlimited'))).toBeNull();
    expect(connectionsWithin(null)).toBeNull();
  });
});
