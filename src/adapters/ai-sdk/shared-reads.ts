/**
 * All connections to providers read into one buffer. Node gives each read 64 KB of its own, which it cuts to what has come, and puts it
 * into a queue, out of which it goes in the same breath. HTTP's parser copies what it takes for a body, so that nothing of the buffer is held.
 */
import type { OnReadOpts, Socket } from 'node:net';

const buffer = Buffer.allocUnsafeSlow(65_536);

/** For the options of an agent. */
export const sharedReads: OnReadOpts = {
  buffer,
  callback(this: Socket, length: number): boolean {
    // What `node:http` listens for.
    this.emit('data', buffer.subarray(0, length));
    return true;
  },
};

/** A piece of a body to keep: itself, unless it is a part of the shared buffer. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.buffer === buffer.buffer ? Buffer.from(bytes) : bytes;
}
