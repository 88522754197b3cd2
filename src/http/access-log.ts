import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../core/ports/log.js';
import { lingeringSince } from './connections/lingering.js';
import { wasSent } from './connections/pending-responses.js';
import { exchangeOf } from './request/exchange.js';
import type { RequestObserver } from './observer.js';

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
    ms: Math.round(milliseconds * 10) / 10,
    request_id: loggedId,
    surface: dialect.name,
    session,
    aborted: wasSent(res) || since !== undefined ? undefined : true,
  };
  log.info(line, 'request');
  observer?.answered(req, { surface: dialect.name, route, method, status, milliseconds });
}
