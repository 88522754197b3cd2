import { IncomingMessage } from 'node:http';
import type { Dialect } from '../response/errors.js';

/** The state of a request while the service responds to it: for its log line and for the shape of its errors. */
export interface Exchange {
  readonly requestId: string;
  /** The id as logs have it: without the rest of a UUID, which may be the id of a session. */
  readonly loggedId: string;
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number;
  dialect: Dialect;
  /** The pattern of the route that took the request, never the path as sent. */
  route: string;
  /** The mark of the session that the request names, once it was read. */
  session: string | undefined;
  /** Why the request must not reach its route. The route refuses it, in its dialect. */
  refusal: Error | undefined;
}

/** A request that carries its exchange. */
export class ExchangeRequest extends IncomingMessage {
  exchange: Exchange | undefined = undefined;
}

/** Keeps the exchange of a request for as long as the request lives. @throws TypeError for a request of another server */
export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  if (!(req instanceof ExchangeRequest)) throw new TypeError('the request has no room for an exchange');
  req.exchange = exchange;
}

/** Notes the route of a request: its errors have the dialect, and logs show the pattern. @throws Error as `exchangeOf` */
export function enterRoute(req: IncomingMessage, dialect: Dialect, pattern: string): void {
  const exchange = exchangeOf(req);
  exchange.dialect = dialect;
  exchange.route = pattern;
}

/** @throws Error when the request did not come in through `createHttpServer` */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = req instanceof ExchangeRequest ? req.exchange : undefined;
  if (exchange === undefined)
    throw new Error('the request has no exchange: it came in through another server');
  return exchange;
}
