/**
 * All connections to providers read into one buffer. Node gives each read 64 KB of its own, which it cuts to what has come, and puts it
 * into a queue, out of which it goes in the same breath. HTTP's parser copies what it takes for a body, so that nothing of the buffer is held.
 * Measured together with `answer-text.ts`: see there.
 */
import type { OnReadOpts, Socket } from 'node:net';
import { WholeChunks, type BytesReader } from './whole-chunks.js';

const buffer = Buffer.allocUnsafeSlow(65_536);

/** The body that a connection is in, while chunks of it are taken. */
const BODY = Symbol('body');
declare module 'node:net' {
  interface Socket {
    [BODY]?: WholeChunks | undefined;
  }
}

/** For the options of an agent. */
export const sharedReads: OnReadOpts = {
  buffer,
  callback(this: Socket, length: number): boolean {
    const body = this[BODY];
    if (body === undefined) {
      // What `node:http` listens for.
      this.emit('data', buffer.subarray(0, length));
      // The head of an answer was in it, whose chunks are wanted.
      if (this[BODY]?.begin(buffer, length) === false) this[BODY] = undefined;
    } else if (!body.read(buffer, length)) this[BODY] = undefined;
    return true;
  },
};

/** Gives the chunks of an answer's body that come whole to the reader, past HTTP's parser. To be called where the head of the answer is told of. */
export function takeWholeChunks(socket: Socket, reader: BytesReader): void {
  socket[BODY] = new WholeChunks(socket, reader);
}

/** A piece of a body to keep: itself, unless it is a part of the shared buffer. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.buffer === buffer.buffer ? Buffer.from(bytes) : bytes;
}
