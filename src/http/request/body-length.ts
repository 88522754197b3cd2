import type { IncomingMessage } from 'node:http';

/** True for a request without a body (RFC 9112 §6.3), or with an empty one. */
export function isBodiless({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length'];
  return length === '0' || (length === undefined && headers['transfer-encoding'] === undefined);
}
