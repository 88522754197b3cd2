import { afterEach, describe, expect, it } from '@jest/globals';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { writeOnePiece } from '../../src/http/one-piece.js';
import { closeAnswering, wire } from '../support/answering.js';

class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
writeOnePiece(Answer.prototype);

afterEach(closeAnswering);

/** How often Node itself writes: in one piece since 24. */
const OWN_WRITES = Number.parseInt(process.versions.node) < 24 ? 2 : 1;

describe('an answer with a short body', () => {
  it.each<readonly [string, (res: ServerResponse) => void]>([
    ['text', (res) => res.end('words')],
    ['text that is not ASCII', (res) => res.end('für – 🎉 \u0000')],
    ['text with its encoding', (res) => res.end('für', 'utf8')],
    ['bytes', (res) => res.end(Buffer.from('für 🎉'))],
    ['bytes that are no text', (res) => res.end(Buffer.from([0, 128, 255, 13, 10]))],
    ['a status and headers', (res) => res.writeHead(404, { 'X-A': '1', 'Content-Length': 2 }).end('no')],
    [
      'headers that were set',
      (res) => {
        res.statusCode = 201;
        res.setHeader('X-A', ['1', '2']);
        res.setHeader('Content-Length', 5);
        res.end('words');
      },
    ],
  ])('has the same lines and bytes as one of Node: %s', async (_name, answer) => {
    const [plain, one] = [await wire(answer), await wire(answer, { Class: Answer })];
    expect({ ...one, writes: 0 }).toEqual({ ...plain, writes: 0 });
  });

  it('is written once', async () => {
    expect((await wire((res) => res.end('für'), { Class: Answer })).writes).toBe(1);
    expect((await wire((res) => res.end('für'))).writes).toBe(OWN_WRITES);
  });

  it.each<readonly [string, (res: ServerResponse) => void, string?]>([
    ['nothing', (res) => res.end()],
    ['a long body', (res) => res.end('x'.repeat(100_000))],
    ['a body in pieces', (res) => [res.write('a'), res.end('b')]],
    ['another encoding', (res) => res.end('00ff', 'hex')],
    ['a listener', (res) => res.end('words', () => undefined)],
    ['no body allowed', (res) => res.writeHead(204).end('words')],
    ['a status without a body', (res) => Object.assign(res, { statusCode: 304 }).end('words')],
    ['HEAD', (res) => res.end('words'), 'HEAD / HTTP/1.1'],
  ])('is left to Node with %s', async (_name, answer, line = 'GET / HTTP/1.1') => {
    const [plain, one] = [await wire(answer, { line }), await wire(answer, { Class: Answer, line })];
    expect({ ...one, writes: 0 }).toEqual({ ...plain, writes: 0 });
  });

  it('is left to Node where that writes in another way', () => {
    class Other<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
    Object.defineProperty(Other.prototype, '_send', { value: () => true });
    expect(writeOnePiece(Other.prototype)).toBe(false);
    expect(Object.hasOwn(Other.prototype, 'end')).toBe(false);
  });
});
