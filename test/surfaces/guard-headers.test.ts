import { afterEach, describe, expect, it } from '@jest/globals';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { addLines, linesOf, writeLines } from '../../src/http/guard-headers.js';
import { answering, closeAnswering } from '../support/answering.js';

class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
writeLines(Answer.prototype);

const LINES = linesOf([
  (_req, res, next) => {
    res.setHeader('X-Guard', 'on');
    res.setHeader('X-Other', 'too');
    next();
  },
]);

afterEach(closeAnswering);

async function headersOf(answer: (res: ServerResponse) => void, Class = Answer): Promise<Headers> {
  const port = await answering((res) => {
    addLines(res, LINES);
    answer(res);
    res.setHeader('Connection', 'close');
    res.end('ok');
  }, Class);
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

  it.each([
    ['is not there', undefined],
    [
      'makes a head of its own',
      function (this: ServerResponse) {
        Reflect.set(this, '_header', 'HTTP/1.1 204 No Content\r\n\r\n');
      },
    ],
    [
      'throws',
      () => {
        throw new Error('not so');
      },
    ],
  ])('are ordinary headers where what Node writes heads with %s', async (_what, store) => {
    class Other<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
    Object.defineProperty(ServerResponse.prototype, '_storeHeader', { value: store, configurable: true });
    try {
      expect(writeLines(Other.prototype)).toBe(false);
    } finally {
      Reflect.deleteProperty(ServerResponse.prototype, '_storeHeader');
    }
    const headers = await headersOf((res) => {
      expect(res.getHeaderNames()).toEqual(['x-guard', 'x-other']);
      res.removeHeader('x-other');
    }, Other);
    expect([headers.get('x-guard'), headers.get('x-other')]).toEqual(['on', null]);
  });

  it('are written as lines by this version of Node', () => {
    class Other extends ServerResponse {}
    expect(writeLines(Other.prototype)).toBe(true);
  });
});
