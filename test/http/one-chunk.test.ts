import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { isFull, untilDrained, writeChunk } from '../../src/http/one-chunk.js';
import { answering, closeAnswering, wire } from '../support/answering.js';

afterEach(closeAnswering);

const FRAMES: readonly (readonly [string, readonly (string | Buffer)[]])[] = [
  ['text', ['data: words\n\n', 'data: more\n\n']],
  ['text that is not ASCII', ['für – 🎉 \u0000', '\ud800 alone']],
  ['bytes', [Buffer.from('für 🎉'), Buffer.from([0, 128, 255, 13, 10])]],
  ['text and bytes in turn', ['a', Buffer.from('b'), 'c']],
  ['nothing between', ['a', '', 'b']],
];

/** Writes frames in rounds of the loop of their own. */
async function writeAll(
  res: ServerResponse,
  frames: readonly (string | Buffer)[],
  write: (res: ServerResponse, frame: string | Buffer) => void,
): Promise<void> {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
  for (const frame of frames) {
    write(res, frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  res.end();
}

const byNode = (res: ServerResponse, frame: string | Buffer): boolean => res.write(frame);

describe('a chunk of an answer', () => {
  it.each(FRAMES)('has the bytes that Node gives it: %s', async (_name, frames) => {
    const plain = await wire((res) => void writeAll(res, frames, byNode));
    const own = await wire((res) => void writeAll(res, frames, writeChunk));
    expect({ ...own, writes: 0 }).toEqual({ ...plain, writes: 0 });
  });

  it('is written once, also when its bytes are those of another', async () => {
    const shared = Buffer.from('shared');
    const { writes } = await wire((res) => void writeAll(res, ['für', shared, shared], writeChunk));
    const { writes: plain } = await wire((res) => void writeAll(res, ['für', shared, shared], byNode));
    expect(plain - writes).toBe(3);
  });

  it.each([
    ['HTTP/1.0, which has no chunks', 'GET / HTTP/1.0'],
    ['HEAD', 'HEAD / HTTP/1.1'],
  ])('is left to Node with %s', async (_name, line) => {
    const plain = await wire((res) => void writeAll(res, ['a', 'b'], byNode), { line });
    const own = await wire((res) => void writeAll(res, ['a', 'b'], writeChunk), { line });
    expect(own).toEqual(plain);
  });
});

describe('a client that does not read', () => {
  /** Writes until the connection takes no more. */
  function fill(res: ServerResponse): void {
    while (!isFull(res)) writeChunk(res, 'x'.repeat(65_536));
  }

  async function ask(port: number, requests: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').pause();
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests));
    return socket;
  }

  it('is waited for, and then gets more', async () => {
    let drained = false;
    const port = await answering((res) => {
      res.writeHead(200).flushHeaders();
      fill(res);
      void untilDrained(res, () => undefined).then(() => {
        drained = true;
        res.end('over');
      });
    });
    const socket = await ask(port, 1);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text = (text + piece).slice(-20)));
    socket.resume();
    while (!text.endsWith('0\r\n\r\n')) await once(socket, 'data');
    expect([drained, text.includes('over')]).toEqual([true, true]);
    socket.destroy();
  });

  it('is full, too, where its answer waits for the one before', async () => {
    const begun: ServerResponse[] = [];
    const both = new Promise<void>((resolve) => {
      void answering((res) => {
        res.writeHead(200).flushHeaders();
        begun.push(res);
        if (begun.length === 2) resolve();
      }).then((port) => ask(port, 2));
    });
    await both;
    const [, second] = begun;
    if (second === undefined) throw new Error('there is no second answer');
    expect(second.socket).toBeNull();
    fill(second);
    expect(isFull(second)).toBe(true);
  });
});
