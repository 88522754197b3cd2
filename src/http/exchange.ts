import type { IncomingMessage } from 'node:http';
import type { Dialect } from './errors.js';

/** What is known of a request while it is answered: for its log line and for the shape of its errors. */
export interface Exchange {
  readonly requestId: string;
  dialect: Dialect;
  /** The pattern of the route that took it, never the path as sent. */
  route: string;
  /** More fields for its log line. */
  readonly logged: Record<string, string>;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Remembers the exchange of a request for as long as the request lives. */
export function beginExchange(req: IncomingMessage, exchange: Exchange): void {
  exchanges.set(req, exchange);
}

/** @throws Error when the request did not come in through `createHttpServer` */
export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = exchanges.get(req);
  if (exchange === undefined) throw new Error('the request has no exchange: begin() is not mounted');
  return exchange;
}
