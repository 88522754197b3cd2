import type { IncomingMessage } from 'node:http';
import type { Catalogue } from './catalogue.js';

/** An answer that is over. */
interface Answered {
  readonly surface: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Others are clients' own words. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

/** Counts requests and open event streams. Routes come from the table of routes: a path as sent is never a label. */
export function createRequestObserver(metrics: Catalogue) {
  const streams = new WeakSet<IncomingMessage>();
  return {
    around(_req: IncomingMessage, handle: () => void): void {
      metrics.inFlight.add(1);
      handle();
    },
    answered(req: IncomingMessage, { surface, method, route, status, milliseconds }: Answered): void {
      const word = METHODS.has(method) ? method : 'other';
      metrics.inFlight.add(-1);
      metrics.requests.add(1, surface, word, route, String(status));
      if (!streams.has(req)) metrics.requestSeconds.observe(milliseconds / 1000, surface, word, route);
    },
    streaming(req: IncomingMessage, { surface, route }: Pick<Answered, 'surface' | 'route'>): () => void {
      streams.add(req);
      metrics.streams.add(1, surface, route);
      return () => {
        metrics.streams.add(-1, surface, route);
      };
    },
  };
}
