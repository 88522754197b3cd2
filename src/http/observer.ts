import type { IncomingMessage } from 'node:http';
import type { Exchange } from './request/exchange.js';

/** What is known of a request once its answer is over. */
export interface Answered {
  /** The surface that took it, as logs call it. */
  readonly surface: string;
  readonly method: string;
  /** The pattern of its route, never the path as sent. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Is told of every request. No method may throw, and none may take long. */
export interface RequestObserver {
  /** A request begins: handles it by calling `handle`, once and at once. */
  around(req: IncomingMessage, handle: () => void): void;
  /** Its answer is over, or its connection was closed before. */
  answered(req: IncomingMessage, answered: Answered): void;
  /** Its answer is an event stream, which is open until what this returns is called. */
  streaming(req: IncomingMessage, opened: Pick<Answered, 'surface' | 'route'>): () => void;
}

/** Tells all of them; undefined when there is none. */
export function requestObservers(all: readonly RequestObserver[]): RequestObserver | undefined {
  const [only, ...others] = all;
  if (only === undefined || others.length === 0) return only;
  return {
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
    streaming(req, opened) {
      const closed = all.map((observer) => observer.streaming(req, opened));
      return () => {
        for (const close of closed) close();
      };
    },
  };
}

/** How an observer names the place of a request. */
export function placeOf({ dialect, route }: Exchange): Pick<Answered, 'surface' | 'route'> {
  return { surface: dialect.name, route };
}
