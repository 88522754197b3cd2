import type { IncomingMessage } from 'node:http';
import type { Dialect } from './errors.js';

/** What is known of a request while it is answered: for its log line and for the shape of its errors. */
export interface Exchange {
  readonly requestId: string;
  /** The id as logs have it: without the rest of a UUID, which may be the id of a session. */
  readonly loggedId: string;
  /** By a clock that is never set back, in milliseconds. */
  readonly startedAt: number;
  dialect: Dialect;
  /** The pattern of the route that took it, never the path as sent. */
  route: string;
  /** The mark of the session that it names, once that was read. */
  session: string | undefined;
  /** Why the request must not reach its route. The route refuses it, in its dialect. */
  refusal: Error | undefined;
}

/** Where a request carries it. Not a WeakMap: each entry of one is work for every collection of garbage. */
const EXCHANGE: unique symbol = Symbol('exchange');

declare module 'node:http' {
  interface IncomingMessage {
    [EXCHANGE]?: Exchange;
  }
}

/** Remembers the exchange of a request for as long as the request lives. */
export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  req[EXCHANGE] = exchange;
}

/** A route has taken the request: errors have its shape, and logs its pattern. @throws Error as `exchangeOf` */
export function enterRoute(req: IncomingMessage, dialect: Dialect, pattern: string): void {
  const exchange = exchangeOf(req);
  exchange.dialect = dialect;
  exchange.route = pattern;
}

/** @throws Error when the request did not come in through `createHttpServer` */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = req[EXCHANGE];
  if (exchange === undefined) throw new Error('the request has no exchange: begin() is not mounted');
  return exchange;
}
