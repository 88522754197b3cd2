import type { IncomingMessage } from 'node:http';
import type { Catalogue } from './catalogue.js';
import type { Cell, Spread } from './instruments.js';

/** A completed response. */
interface Answered {
  readonly surface: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** A route that exists at the start. */
interface KnownRoute extends Pick<Answered, 'surface' | 'method' | 'route'> {
  readonly isStream: boolean;
}

/**
 * The statuses that each route has a series of from the start: success, and the failures of the service, because an
 * alert on them must not miss the first one.
 */
const KNOWN_STATUSES = ['200', '500', '503'];

/** Clients may send arbitrary methods: all others are counted as `other`, which bounds the label. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

function wordFor(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

/** The series of responses with the same surface, method, route and status. */
interface Alike {
  readonly surface: string;
  readonly method: string;
  readonly status: number;
  readonly requests: Cell;
  /** The durations, without event streams. Undefined until the first one. */
  seconds: Spread | undefined;
}

/** Counts requests and open event streams. The route label comes from the route table, never from the path. */
export function createRequestObserver(metrics: Catalogue) {
  const inFlight = metrics.inFlight.series();
  const streams = new WeakSet<IncomingMessage>();
  /** Caches series by route, which avoids a lookup per label for each request. */
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
    /**
     * Creates the series of the routes, so that they report 0. The histograms of durations are left out: each would add
     * 18 lines to every scrape, and their quantiles lose nothing when a series begins with its first request.
     */
    routed(routes: readonly KnownRoute[]): void {
      for (const { surface, method, route, isStream } of routes) {
        for (const status of KNOWN_STATUSES) metrics.requests.series(surface, method, route, status);
        if (isStream) metrics.streams.series(surface, route);
      }
    },
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
    /** Counts no duration: when the request began is unknown. */
    unparsed(answered: Answered): void {
      find(answered).requests.add(1);
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
