import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { readText } from '../../src/adapters/ai-sdk/answer-text.js';
import { sharedReads } from '../../src/adapters/ai-sdk/shared-reads.js';

// Answers as they are read, of which Node's own parser sees what is left: without a network, cut at any place.

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const LAST = '0\r\n\r\n';

/** A connection whose reads a test makes. */
class Connection extends Duplex {
  /** What the parser was shown. */
  shown = '';
  override _read(): void {
    // What comes goes past the queue.
  }
  override _write(_bytes: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
  receive(bytes: Buffer): void {
    const { buffer } = sharedReads;
    if (!Buffer.isBuffer(buffer)) throw new Error('the buffer is made once');
    bytes.copy(buffer);
    sharedReads.callback.call(this as unknown as Socket, bytes.length, buffer);
    // What was lent is given back.
    buffer.fill('#', 0, bytes.length);
  }
}

/** What became of an answer. */
interface Read {
  readonly texts: string[];
  isOver: boolean;
  error: string | undefined;
  response: IncomingMessage | undefined;
}

/** Asks on a connection of its own, and reads what comes in these reads. */
async function read(reads: readonly Buffer[]): Promise<Read & { readonly shown: string }> {
  const connection = new Connection();
  connection.on('data', (bytes: Buffer) => (connection.shown += bytes.toString('latin1')));
  const seen: Read = { texts: [], isOver: false, error: undefined, response: undefined };
  const failed = (error: NodeJS.ErrnoException) => (seen.error ??= error.code);
  const request = http.request({ createConnection: () => connection });
  request.on('error', failed);
  request.on('response', (response) => {
    seen.response = response.on('error', failed);
    readText(response, {
      takeText: (text) => {
        seen.texts.push(text);
      },
      endText: () => {
        seen.isOver = true;
      },
    });
  });
  const isWritten = once(request, 'finish');
  request.end();
  await isWritten;
  for (const bytes of reads) connection.receive(bytes);
  const isClosed = once(request, 'close');
  connection.destroy();
  await isClosed;
  return { ...seen, shown: connection.shown };
}

function chunk(data: string, { upper = false, extension = '' } = {}): string {
  const size = Buffer.byteLength(data).toString(16);
  return `${upper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
}

const reads = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));

describe('an answer in chunks', () => {
  it('shows its parser the head, the end, and no chunk that came whole', async () => {
    const seen = await read(reads(HEAD, chunk('one'), chunk('two') + chunk('three'), chunk('four') + LAST));
    expect(seen.texts).toEqual(['one', 'two', 'three', 'four']);
    expect(seen).toMatchObject({ isOver: true, error: undefined, shown: HEAD + LAST });
  });

  it('goes on with whole chunks after one that came in parts', async () => {
    const [part, rest] = [chunk('in two parts').slice(0, 7), chunk('in two parts').slice(7)];
    const seen = await read(reads(HEAD + chunk('at once') + part, rest + chunk('whole'), LAST));
    expect(seen.texts.join('')).toBe('at oncein two partswhole');
    expect(seen).toMatchObject({ isOver: true, shown: HEAD + chunk('at once') + part + rest + LAST });
  });

  it('is read the same, however it is cut', async () => {
    const data = fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }) },
      { weight: 2, arbitrary: fc.constantFrom('\r\n', '0\r\n\r\n', 'a\r\n', '👋', 'é'.repeat(150), HEAD) },
    );
    const piece = fc.record({
      data: data.map((text) => text.toWellFormed()),
      upper: fc.boolean(),
      extension: fc.constantFrom('', '', '', '', ';a=b', ';x'),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 10 }),
        sizes,
        fc.boolean(),
        async (pieces, sizes, isWhole) => {
          const parts = [HEAD, ...pieces.map((piece) => chunk(piece.data, piece)), LAST];
          const bytes = Buffer.from(parts.join(''));
          const seen = await read(isWhole ? reads(...parts) : cut(bytes, sizes));
          expect(seen.texts.join('')).toBe(pieces.map(({ data }) => data).join(''));
          expect([seen.isOver, seen.error, seen.response?.complete]).toEqual([true, undefined, true]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a size that is none', 'xyz\r\none\r\n'],
    ['no size', '\r\none\r\n'],
    ['a chunk that is longer than it says', '2\r\none\r\n'],
    ['a size beyond all', 'fffffffffffffffff\r\none\r\n'],
  ])('with %s is broken', async (_name, broken) => {
    const seen = await read(reads(HEAD, chunk('before'), broken));
    expect(seen.texts.join('')).toMatch(/^before/);
    expect(seen.isOver).toBe(false);
    expect(seen.error).toMatch(/^HPE_/);
  });

  it('that ends early is cut', async () => {
    for (const rest of ['', chunk('cut').slice(0, 4), '3']) {
      const seen = await read(reads(HEAD, chunk('before'), rest));
      expect(seen.texts.join('')).toMatch(/^before/);
      expect([seen.isOver, seen.error]).toEqual([false, 'ECONNRESET']);
    }
  });

  it('is read after an informational one, with a head in two reads, and with a trailer', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n';
    const body = [chunk('one'), chunk('two'), '0\r\nServer-Timing: a\r\n\r\n'];
    const heads = [
      [early, HEAD],
      [early + HEAD],
      [HEAD.slice(0, 20), HEAD.slice(20)],
      [HEAD + chunk('zero')],
    ];
    for (const head of heads) {
      const seen = await read(reads(...head, ...body));
      expect(seen.texts.join('')).toMatch(/^(zero)?onetwo$/);
      expect([seen.isOver, seen.response?.trailers]).toEqual([true, { 'server-timing': 'a' }]);
    }
  });
});

describe('an answer that is not in chunks', () => {
  it('is read by the parser', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n';
    const seen = await read(reads(head, chunk('one')));
    expect([seen.texts, seen.isOver]).toEqual([[chunk('one')], true]);
  });
});

/** In reads of these sizes, and one of the rest. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const all: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    all.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...all, bytes.subarray(at)].filter(({ length }) => length > 0);
}
