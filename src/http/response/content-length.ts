import type { IncomingMessage } from 'node:http';

/**
 * True when Node does not set `Content-Length` for a body that is passed to `end`: in responses to HEAD, and to
 * HTTP/1.0, whose clients cannot detect a truncated body without it.
 */
export function needsLength({ method, httpVersion }: IncomingMessage): boolean {
  return method === 'HEAD' || httpVersion === '1.0';
}
