import type { ServerResponse } from 'node:http';
import { RefusedError } from '../../core/model/refusal.js';
import { onClosed } from '../connections/pending-responses.js';

/** Bodies of at most this many bytes are sent whatever else waits. */
const SHORT_BYTES = 65_536;
/** How many bytes of longer bodies may wait in this process for clients that do not read them. */
const MAX_WAITING_BYTES = 268_435_456;

let waiting = 0;

/**
 * Counts a body until its response is sent or its connection closed. Call before anything of the response is written.
 * @param bytes the size of the body, or its number of characters
 * @throws RefusedError `unavailable` when too many bytes wait already; never for a request that may have changed data
 */
export function countBody(res: ServerResponse, bytes: number): void {
  const { method } = res.req;
  if (bytes <= SHORT_BYTES || method === 'HEAD') return;
  if (method === 'GET' && waiting + bytes > MAX_WAITING_BYTES) {
    throw new RefusedError(
      'unavailable',
      'Too many long responses wait for clients that do not read them: try again in a moment, or ask for fewer messages',
      [],
      5,
    );
  }
  waiting += bytes;
  onClosed(res, () => {
    waiting -= bytes;
  });
}

/** True when so many bytes wait that clients that do not read should lose their connections soon. */
export function areBodiesCrowded(): boolean {
  return waiting > MAX_WAITING_BYTES / 2;
}
