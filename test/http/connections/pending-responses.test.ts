import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { isClosed, onClosed, wasSent } from '../../../src/http/connections/pending-responses.js';
import { connected, type Connected } from '../../support/connected.js';

let server: Server;
let both: Connected;
/** The responses, in the order of their requests. */
let responses: ServerResponse[];

beforeEach(async () => {
  responses = [];
  server = createServer((_req, res) => {
    responses.push(res);
    server.emit('asked');
  });
  both = await connected(server);
});

afterEach(() => both.close());

/** Sends so many requests at once. */
async function ask(times: number): Promise<void> {
  both.client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(times));
  while (responses.length < times) await once(server, 'asked');
}

describe('onClosed', () => {
  it('calls each listener once when the connection closes, also for responses that wait for earlier ones', async () => {
    await ask(12);
    const closes = responses.map(() => 0);
    const all = new Promise<void>((resolve) => {
      for (const [at, res] of responses.entries())
        onClosed(res, () => {
          closes[at] = (closes[at] ?? 0) + 1;
          if (closes.every((count) => count > 0)) resolve();
        });
    });
    both.client.destroy();
    await all;
    for (const res of responses) {
      expect([isClosed(res), res.writableFinished]).toEqual([true, false]);
      // A late response harms nobody.
      res.end('late');
    }
    // A response that is closed closes no more.
    const again = responses.map((res) => once(res, 'close', { signal: AbortSignal.timeout(50) }));
    await Promise.allSettled(again);
    expect(closes).toEqual(responses.map(() => 1));
  });

  it('calls the listener of a closed response at once', async () => {
    await ask(1);
    const [res] = responses;
    if (res === undefined) throw new Error('no response');
    res.end();
    await once(res, 'close');
    let isCalled = false;
    onClosed(res, () => (isCalled = true));
    expect(isCalled).toBe(true);
  });

  it('does not call a listener that was removed', async () => {
    await ask(2);
    const called: number[] = [];
    const remove = responses.map((res, at) => onClosed(res, () => called.push(at)));
    remove[1]?.();
    const closed = new Promise<void>((resolve) => {
      const [, second] = responses;
      if (second !== undefined) onClosed(second, resolve);
    });
    both.client.destroy();
    await closed;
    expect(called).toEqual([0]);
  });

  it('calls when responses are sent, which leave in the order of their requests', async () => {
    await ask(3);
    const closed = responses.map((res) => new Promise<void>((resolve) => onClosed(res, resolve)));
    for (const [at, res] of [...responses.entries()].reverse()) res.end(`answer ${String(at)}`);
    await Promise.all(closed);
    while (!both.received().includes('answer 2')) await once(both.client, 'data');
    expect(both.received().match(/answer \d/g)).toEqual(['answer 0', 'answer 1', 'answer 2']);
  });
});

describe('wasSent', () => {
  /** More than the buffers of the system hold. */
  const BODY = Buffer.alloc(16 * 1_048_576);

  /** Answers the first request. Returns whether the response was sent, as known when it is closed. */
  async function outcome(answer: (res: ServerResponse) => void): Promise<boolean> {
    const [res] = responses;
    if (res === undefined) throw new Error('no response');
    return new Promise((resolve) => {
      onClosed(res, () => {
        resolve(wasSent(res));
      });
      answer(res);
    });
  }

  it('is false where the client leaves before it has read all', async () => {
    await ask(1);
    const sent = outcome((res) => {
      res.end(BODY);
    });
    both.client.pause();
    both.client.destroy();
    expect(await sent).toBe(false);
  });

  it('is false where the server destroys the connection', async () => {
    await ask(1);
    both.client.pause();
    const sent = outcome((res) => {
      res.end(BODY);
      res.req.socket.destroy();
    });
    expect(await sent).toBe(false);
  });

  it.each([
    ['of a connection that stays open', 'keep-alive'],
    ['of one that closes', 'close'],
  ])('is true for a response that the client reads, %s', async (_, connection) => {
    await ask(1);
    const sent = outcome((res) => {
      res.setHeader('Connection', connection).end(BODY);
    });
    expect(await sent).toBe(true);
  });

  it('is true where the client has closed its side, and reads', async () => {
    await ask(1);
    both.client.end();
    const sent = outcome((res) => {
      res.end(BODY);
    });
    expect(await sent).toBe(true);
  });
});
