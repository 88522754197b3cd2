import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../core/ports/log.js';
import { lingeringSince } from './connections/lingering.js';
import { wasSent } from './connections/pending-responses.js';
import { exchangeOf } from './request/exchange.js';
import type { Answered, RequestObserver } from './observer.js';

/**
 * Logs one line for a request whose response is over: the route's pattern, never a path, query or body.
 * @param observer receives the same data
 */
export function logAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  log: Log,
  observer: RequestObserver | undefined,
): void {
  const { loggedId, startedAt, dialect, route, session } = exchangeOf(req);
  const { method = '' } = req;
  const { statusCode: status } = res;
  const since = lingeringSince(res);
  const milliseconds = (since ?? performance.now()) - startedAt;
  const line = {
    method,
    route,
    status,
    ms: rounded(milliseconds),
    request_id: loggedId,
    surface: dialect.name,
    session,
    aborted: wasSent(res) || since !== undefined ? undefined : true,
  };
  log.info(line, 'request');
  observer?.answered(req, { surface: dialect.name, route, method, status, milliseconds });
}

/** A response to a request that could not be parsed. `milliseconds`: since the parser rejected the request. */
export interface AnsweredUnparsed extends Pick<Answered, 'surface' | 'status' | 'milliseconds'> {
  readonly requestId: string;
}

/**
 * Logs one line for a request that could not be parsed: nothing that the client sent.
 * @param observer receives the same data
 */
export function logUnparsed(
  { surface, status, milliseconds, requestId }: AnsweredUnparsed,
  log: Log,
  observer: RequestObserver | undefined,
): void {
  const [method, route] = ['unknown', 'none'];
  log.info({ method, route, status, ms: rounded(milliseconds), request_id: requestId, surface }, 'request');
  observer?.unparsed({ surface, method, route, status, milliseconds });
}

/** Rounds to tenths. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
