import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { leaveEmpty } from '../../src/http/empty-requests.js';

class Request extends IncomingMessage {}
leaveEmpty(Request.prototype);

let server: Server;
let client: Socket;
let received: string;
let requests: IncomingMessage[];

beforeEach(async () => {
  requests = [];
  received = '';
  server = createServer({ IncomingMessage: Request }, (req, res) => {
    requests.push(req);
    server.emit('asked', req);
    res.on('close', () => server.emit('answered'));
    res.end('done');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.setEncoding('latin1').on('data', (text: string) => (received += text));
});

afterEach(async () => {
  client.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function ask(line: string, { headers = '', body = '' } = {}): Promise<void> {
  const answered = once(server, 'answered');
  client.write(`${line} HTTP/1.1\r\nHost: here\r\n${headers}\r\n${body}`);
  await answered;
}

/** Waits until so many answers have come. */
async function untilAnswers(count: number): Promise<void> {
  while (received.split('HTTP/1.1 200').length - 1 < count) await once(client, 'data');
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
