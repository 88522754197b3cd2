import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { isClosed, onClosed } from '../../../src/http/connections/pending-responses.js';
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
