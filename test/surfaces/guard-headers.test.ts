import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, ServerResponse, type Server } from 'node:http';
import { addLines, linesOf, writeLines } from '../../src/http/guard-headers.js';

class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
writeLines(Answer.prototype);

const LINES = linesOf([
  (_req, res, next) => {
    res.setHeader('X-Guard', 'on');
    res.setHeader('X-Other', 'too');
    next();
  },
]);

let server: Server;

afterEach(async () => {
  server.close();
  await once(server, 'close');
});

async function headersOf(answer: (res: ServerResponse) => void): Promise<Headers> {
  server = createServer({ ServerResponse: Answer }, (_req, res) => {
    addLines(res, LINES);
    answer(res);
    res.setHeader('Connection', 'close');
    res.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return (await fetch(`http://127.0.0.1:${String(port)}`)).headers;
}

describe('headers that are written as lines', () => {
  it('are on the answer', async () => {
    const headers = await headersOf(() => undefined);
    expect([headers.get('x-guard'), headers.get('x-other')]).toEqual(['on', 'too']);
  });

  it('can be changed and taken away like others, and come once', async () => {
    const headers = await headersOf((res) => {
      expect(res.getHeader('X-Guard')).toBe('on');
      res.setHeader('X-Guard', 'off');
      res.removeHeader('x-other');
    });
    expect([headers.get('x-guard'), headers.get('x-other')]).toEqual(['off', null]);
  });
});
