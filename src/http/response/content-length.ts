import type { IncomingMessage } from 'node:http';

/**
 * True when Node leaves out the length of a body that is given to `end`: in responses to HEAD, and to HTTP/1.0, whose
 * clients could not tell a complete body from one that was cut off.
 */
export function needsLength({ method, httpVersion }: IncomingMessage): boolean {
  return method === 'HEAD' || httpVersion === '1.0';
}
