import type { IncomingMessage } from 'node:http';
import type { Exchange } from './request/exchange.js';

/** The outcome of a request whose response is over. */
export interface Answered {
  /** The name of the request's surface in logs. */
  readonly surface: string;
  readonly method: string;
  /** The pattern of the route, never the path as sent. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** A route of the server, by the names that its requests have in logs and metrics. */
export interface KnownRoute extends Pick<Answered, 'surface' | 'method' | 'route'> {
  readonly isStream: boolean;
}

/** Receives the events of every request. No method may throw or block. */
export interface RequestObserver {
  /** Called once, before the first request, with all routes of the server. */
  routed(routes: readonly KnownRoute[]): void;
  /** Called when a request begins. Must call `handle` exactly once, synchronously. */
  around(req: IncomingMessage, handle: () => void): void;
  /** Called when the response is over, or its connection was closed before that. */
  answered(req: IncomingMessage, answered: Answered): void;
  /** Called for the response to a request that could not be parsed, for which `around` is never called. */
  unparsed(answered: Answered): void;
  /** Called when the response becomes an event stream. The stream is open until the returned function is called. */
  streaming(req: IncomingMessage, opened: Pick<Answered, 'surface' | 'route'>): () => void;
}

/** Combines observers into one; undefined when there are none. */
export function requestObservers(all: readonly RequestObserver[]): RequestObserver | undefined {
  const [only, ...others] = all;
  if (only === undefined || others.length === 0) return only;
  return {
    routed(routes) {
      for (const observer of all) observer.routed(routes);
    },
    around(req, handle) {
      const run = all.reduceRight(
        (inner, observer) => () => {
          observer.around(req, inner);
        },
        handle,
      );
      run();
    },
    answered(req, answered) {
      for (const observer of all) observer.answered(req, answered);
    },
    unparsed(answered) {
      for (const observer of all) observer.unparsed(answered);
    },
    streaming(req, opened) {
      const closed = all.map((observer) => observer.streaming(req, opened));
      return () => {
        for (const close of closed) close();
      };
    },
  };
}

/** Returns the surface and route of a request, for observers. */
export function placeOf({ dialect, route }: Exchange): Pick<Answered, 'surface' | 'route'> {
  return { surface: dialect.name, route };
}
