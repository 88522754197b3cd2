import { IncomingMessage } from 'node:http';
import type { Dialect } from '../response/errors.js';

/** Why a request may not reach its route. */
export interface ScreeningRefusal {
  /** The route responds with it, in its dialect. */
  readonly error: Error;
  /** Whether the request counts towards the limits of requests. */
  readonly isCounted: boolean;
}

/** The state of a request while the service responds to it: for its log line and for the shape of its errors. */
export interface Exchange {
  readonly requestId: string;
  /** The id for logs: only the first 8 digits of a UUID, which may be a session id. */
  readonly loggedId: string;
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number;
  dialect: Dialect;
  /** The pattern of the route that took the request, never the path as sent. */
  route: string;
  /** The log mark of the session that the request names, once its parameters were read. */
  session: string | undefined;
  refusal: ScreeningRefusal | undefined;
}

export class ExchangeRequest extends IncomingMessage {
  exchange: Exchange | undefined = undefined;
}

/**
 * Attaches an exchange to its request.
 * @throws TypeError when another server created the request
 */
export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  if (!(req instanceof ExchangeRequest)) throw new TypeError('the request was not created by this server');
  req.exchange = exchange;
}

/**
 * Records the route of a request: errors use its dialect, and logs show its pattern.
 * @throws Error when the request has no exchange
 */
export function enterRoute(req: IncomingMessage, dialect: Dialect, pattern: string): void {
  const exchange = exchangeOf(req);
  exchange.dialect = dialect;
  exchange.route = pattern;
}

/** @throws Error when the request was not received through `createHttpServer` */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = req instanceof ExchangeRequest ? req.exchange : undefined;
  if (exchange === undefined)
    throw new Error('the request has no exchange: it was not received through createHttpServer');
  return exchange;
}
