import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import type { UsageApi } from '../../core/api.js';
import type { CountedSurface } from '../../core/ports/usage-store.js';
import { isProbe, type Route } from '../../http/routing/route.js';
import type { Notice } from './deprecation.js';

/** The header that carries the App key on each surface. */
const KEY_HEADER = { current: 'service-app-key', legacy: 'x-api-key' } as const;

/**
 * Returns the routes with a handler that counts each request under its surface. For routes that serve both surfaces, it
 * also adds the notice to responses to legacy requests. Health probes are not counted.
 */
export function countRoutes(
  routes: readonly Route[],
  { core, notice }: { readonly core: UsageApi; readonly notice: Notice | undefined },
): readonly Route[] {
  return routes.map((route) => {
    if (isProbe(route.path)) return route;
    return { ...route, handlers: [counting(route, core, notice), ...route.handlers] };
  });
}

function counting(
  { method, path, dialect, spoken }: Route,
  core: UsageApi,
  notice: Notice | undefined,
): RequestHandler {
  const endpoint = `${method} ${path}`;
  if (spoken === undefined) {
    const surface = dialect.name === 'legacy' ? 'legacy' : 'current';
    const count = core.usageCounter(surface, endpoint);
    return ({ headers }, _res, next) => {
      count(headers['user-agent'], keyOf(headers, surface));
      next();
    };
  }
  const counters = {
    current: core.usageCounter('current', endpoint),
    legacy: core.usageCounter('legacy', endpoint),
  };
  return (req, res, next) => {
    const count = (spokenDialect: string): void => {
      const surface = spokenDialect === 'legacy' ? 'legacy' : 'current';
      counters[surface](req.headers['user-agent'], keyOf(req.headers, surface));
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

function keyOf(headers: IncomingHttpHeaders, surface: CountedSurface): string | undefined {
  const value = headers[KEY_HEADER[surface]];
  return typeof value === 'string' ? value : undefined;
}
