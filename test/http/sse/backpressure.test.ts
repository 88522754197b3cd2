import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { isFull, untilDrained } from '../../../src/http/sse/backpressure.js';
import { answering, closeAnswering } from '../../support/answering.js';

afterEach(closeAnswering);

describe('a client that does not read', () => {
  /** Writes until the connection takes no more. */
  function fill(res: ServerResponse): void {
    while (!isFull(res)) res.write('x'.repeat(65_536));
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
