import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { leaveEmpty } from '../../src/http/empty-requests.js';
import { connected, type Connected } from '../support/connected.js';

class Request extends IncomingMessage {}
leaveEmpty(Request.prototype);

let server: Server;
let both: Connected;
let requests: IncomingMessage[];

beforeEach(async () => {
  requests = [];
  server = createServer({ IncomingMessage: Request }, (req, res) => {
    requests.push(req);
    server.emit('asked', req);
    res.on('close', () => server.emit('answered'));
    res.end('done');
  });
  both = await connected(server);
});

afterEach(() => both.close());

async function ask(line: string, { headers = '', body = '' } = {}): Promise<void> {
  const answered = once(server, 'answered');
  both.client.write(`${line} HTTP/1.1\r\nHost: here\r\n${headers}\r\n${body}`);
  await answered;
}

/** Waits until so many answers have come. */
async function untilAnswers(count: number): Promise<void> {
  while (both.received().split('HTTP/1.1 200').length - 1 < count) await once(both.client, 'data');
}

describe('a request that nobody reads', () => {
  it('is let go of when it is empty, and its connection serves the next one', async () => {
    await ask('GET /1');
    await ask('GET /2');
    // What Node would have had done by now, for the first one.
    expect(requests.map(({ readableEnded }) => readableEnded)).toEqual([false, false]);
    expect(requests[1]?.socket.parser?.incoming).toBeNull();
    await untilAnswers(2);
  });

  it('is read to its end when there is a body, which does not stay on the connection', async () => {
    await ask('POST /1', { headers: 'Content-Length: 4\r\n', body: 'body' });
    const [first] = requests;
    if (first?.readableEnded === false) await once(first, 'end');
    await ask('GET /2');
    expect(requests.map(({ url }) => url)).toEqual(['/1', '/2']);
    await untilAnswers(2);
  });

  it.each(['end', 'close'])('is read when somebody waits for its %s', async (event) => {
    const asked = once(server, 'asked').then(([req]: IncomingMessage[]) => req);
    const told = new Promise<void>((resolve) => {
      server.once('asked', (req: IncomingMessage) => req.once(event, resolve));
    });
    await ask('GET /1');
    await told;
    expect((await asked)?.readableEnded).toBe(true);
  });
});
