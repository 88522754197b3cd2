import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dialect } from './errors.js';
import { beginExchange } from './exchange.js';
import { addLines, nameLines } from './guard-headers.js';
import { randomId } from './random-ids.js';

/** What may come in as an id and go out into logs and headers again. */
const SANE = /^[\w.:-]{1,128}$/;

nameLines('X-Request-Id');

/**
 * Begins the exchange: takes the caller's `X-Request-Id` if it is sane, else makes one, and answers with it.
 * @param dialect the shape of errors until a route has said more
 */
export function begin(req: IncomingMessage, res: ServerResponse, dialect: Dialect): void {
  const given = req.headers['x-request-id'];
  const requestId = typeof given === 'string' && SANE.test(given) ? given : randomId();
  const startedAt = performance.now();
  beginExchange(req, { requestId, startedAt, dialect, route: 'none', session: undefined });
  addLines(res, `X-Request-Id: ${requestId}\r\n`);
}
