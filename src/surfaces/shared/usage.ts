import type { IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { UsageApi } from '../../core/api.js';
import type { CountedSurface } from '../../core/ports/usage-store.js';
import { onOutcome } from '../../http/response/outcome.js';
import { isProbe, type Route } from '../../http/routing/route.js';
import type { ReadKey } from './app-key.js';
import type { Notice } from './deprecation.js';

/** The dependencies of the counting handlers. */
interface UsageOptions {
  readonly core: UsageApi;
  readonly notice: Notice | undefined;
  /** How requests of each surface carry the App key. */
  readonly readKeys: Readonly<Record<CountedSurface, ReadKey>>;
}

/** Counts a request once the status of its response shows that it was served. */
type CountServed = (req: Request, res: Response) => void;

/** The lowest status of a response that refuses a request, or reports that it failed. */
const LOWEST_ERROR = 400;

/**
 * Returns the routes with a handler that counts each request under its surface, unless the response is an error. For
 * routes that serve both surfaces, it also adds the notice to responses to legacy requests. Health probes and the
 * service's own page are not counted.
 */
export function countRoutes(routes: readonly Route[], options: UsageOptions): readonly Route[] {
  return routes.map((route) => {
    if (isProbe(route.path)) return route;
    return { ...route, handlers: [counting(route, options), ...route.handlers] };
  });
}

function counting(
  { method, path, dialect, spoken }: Route,
  { core, notice, readKeys }: UsageOptions,
): RequestHandler {
  const endpoint = `${method} ${path}`;
  const counterOf = (surface: CountedSurface): CountServed => {
    const count = core.usageCounter(surface, endpoint);
    const keyOf = readKeys[surface];
    return ({ headers }, res) => {
      if (isOwnPage(headers)) return;
      onOutcome(res, (status) => {
        if (status < LOWEST_ERROR) count(clientOf(headers), keyOf(headers));
      });
    };
  };
  if (spoken === undefined) {
    const count = counterOf(surfaceOf(dialect.name));
    return (req, res, next) => {
      count(req, res);
      next();
    };
  }
  const counters = { current: counterOf('current'), legacy: counterOf('legacy') };
  return (req, res, next) => {
    const count = (spokenDialect: string): void => {
      const surface = spokenDialect === 'legacy' ? 'legacy' : 'current';
      counters[surface](req, res);
      if (surface === 'legacy') notice?.(res);
      next();
    };
    // Most dialects are known synchronously and need no promise.
    const found = spoken(req, res);
    if (typeof found !== 'string') return found.then(count);
    count(found);
    return undefined;
  };
}

/** True for a request of the service's own page, which sends this header and is not a client to be moved. */
function isOwnPage(headers: IncomingHttpHeaders): boolean {
  return headers['diptych-page'] !== undefined;
}

/** Browsers all send the same `User-Agent`: their `Origin` names the site that sends the request. */
function clientOf(headers: IncomingHttpHeaders): string | undefined {
  const { origin } = headers;
  return origin === undefined || origin === 'null' ? headers['user-agent'] : origin;
}

function surfaceOf(dialect: string): CountedSurface {
  return dialect === 'legacy' || dialect === 'field' ? dialect : 'current';
}
