import type { IncomingMessage } from 'node:http';
import type { Catalogue } from './catalogue.js';
import type { Cell, Spread } from './instruments.js';

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

function wordFor(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** Where those answers of a route that have everything else in common are counted. */
interface Alike {
  readonly surface: string;
  readonly method: string;
  readonly status: number;
  readonly requests: Cell;
  /** Not of streams: they are as long as they are. */
  seconds: Spread | undefined;
}

/** Counts requests and open event streams. Routes come from the table of routes: a path as sent is never a label. */
export function createRequestObserver(metrics: Catalogue) {
  const inFlight = metrics.inFlight.series();
  const streams = new WeakSet<IncomingMessage>();
  /**
   * By route. Found by all its labels, each series takes as many lookups: together a hundredth of what a 304 takes in
   * all.
   */
  const known = new Map<string, Alike[]>();

  function find({ surface, method, route, status }: Answered): Alike {
    let all = known.get(route);
    if (all === undefined) known.set(route, (all = []));
    for (const alike of all)
      if (alike.status === status && alike.method === method && alike.surface === surface) return alike;
    const requests = metrics.requests.series(surface, wordFor(method), route, String(status));
    const alike = { surface, method, status, requests, seconds: undefined };
    all.push(alike);
    return alike;
  }

  return {
    around(_req: IncomingMessage, handle: () => void): void {
      inFlight.add(1);
      handle();
    },
    answered(req: IncomingMessage, answered: Answered): void {
      const alike = find(answered);
      inFlight.add(-1);
      alike.requests.add(1);
      if (streams.has(req)) return;
      const { surface, method, route, milliseconds } = answered;
      alike.seconds ??= metrics.requestSeconds.series(surface, wordFor(method), route);
      alike.seconds.add(milliseconds / 1000);
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
