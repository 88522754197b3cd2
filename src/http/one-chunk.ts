/**
 * A chunk of a chunked answer (RFC 9112 §7.1) goes out as one piece: Node writes its size, its data and two line breaks as four pieces, which
 * it collects for one `writev`. Measured with 256 streams at the pace of a model: writing takes a quarter of the main thread's time, and those pieces
 * were a fifth of all garbage.
 */
import type { ServerResponse } from 'node:http';
import { latin1Of } from './one-piece.js';

declare module 'node:http' {
  interface OutgoingMessage {
    /** Inside Node: writes as it is, with the head before it when that was not sent yet. False when the connection is full. */
    _send?(data: string | Buffer, encoding: BufferEncoding | null, callback: null): boolean;
  }
}

/** Bytes that several streams share are framed once for all of them. */
const chunks = new WeakMap<Buffer, Buffer>();

/** Writes to an answer that was begun. Whether its connection takes more, `isFull` says. */
export function writeChunk(res: ServerResponse, data: string | Buffer): void {
  if (res._send === undefined || !isChunked(res) || data.length === 0) res.write(data);
  else if (typeof data === 'string') res._send(framed(latin1Of(data)), 'latin1', null);
  else res._send(chunkOf(data), null, null);
}

/** Whether it was begun in chunks. One that waits for its turn on a connection has no socket yet: what it writes, Node keeps and counts. */
function isChunked(res: ServerResponse): boolean {
  const isOpen = res.headersSent && !res.writableEnded && !res.closed;
  return isOpen && res.chunkedEncoding && res._hasBody && res.socket !== null;
}

/** Whether the client has to take something before more is written. */
export function isFull({ writableNeedDrain, socket }: ServerResponse): boolean {
  return writableNeedDrain || socket?.writableNeedDrain === true;
}

/** Resolves when the client has taken what was written, or whoever got `resolve` by `onStart` has called it. */
export function untilDrained(res: ServerResponse, onStart: (resolve: () => void) => void): Promise<void> {
  const { socket } = res;
  return new Promise<void>((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      socket?.off('drain', done);
      resolve();
    };
    res.on('drain', done);
    socket?.on('drain', done);
    onStart(done);
  });
}

function framed(bytes: string): string {
  return `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
}

function chunkOf(data: Buffer): Buffer {
  let chunk = chunks.get(data);
  if (chunk === undefined) {
    chunk = Buffer.from(framed(data.toString('latin1')), 'latin1');
    chunks.set(data, chunk);
  }
  return chunk;
}
