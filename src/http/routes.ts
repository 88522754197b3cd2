import type { Request, RequestHandler, Response, Router } from 'express';
import { HttpError, type Dialect } from './errors.js';
import { enterRoute, exchangeOf } from './exchange.js';
import type { Shortcuts } from './shortcuts.js';

/** What routes can answer to. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One endpoint. `GET` answers `HEAD` too. */
export interface Route {
  readonly method: Method;
  /** In Express's notation, from the base on: `/api/sessions/:id`. */
  readonly path: string;
  /** True when the request names an App, so that the App key decides. */
  readonly targetsApp: boolean;
  /** The shape of its errors. */
  readonly dialect: Dialect;
  readonly handlers: readonly RequestHandler[];
  /**
   * True for a pattern whose other methods are nobody's: they are 404, not 405. It also takes its method on the paths
   * of other routes that it covers.
   */
  readonly isLoose?: boolean;
  /** Which dialect a request speaks, by name, where the route takes several; absent: that of its errors. */
  readonly spoken?: (req: Request, res: Response) => string | Promise<string>;
}

/** The routes under one base. */
export interface RouteTable {
  readonly routes: readonly Route[];
  /** Run once before every route, known or not. */
  readonly before: readonly RequestHandler[];
  /**
   * What the router runs for everything under the base, even before a route is known: a shortcut leaves the router out.
   */
  readonly ahead?: readonly RequestHandler[];
}

/**
 * Mounts the routes under a base, in their order. A known path answers another method with 405 and `Allow`,
 * and `OPTIONS` with 204 and `Allow`.
 * @param shortcuts get the routes, too
 */
export function mountRoutes(
  { router, shortcuts }: { readonly router: Router; readonly shortcuts: Shortcuts },
  base: string,
  { routes, before, ahead = [] }: RouteTable,
): void {
  const loose = routes.filter(({ isLoose }) => isLoose === true);
  for (const group of byPath(routes).values()) {
    const [first] = group;
    const pattern = base + first.path;
    const route = router.route(pattern);
    for (const { method, dialect, handlers } of group) {
      const all = [enter(dialect, pattern), ...before, ...handlers];
      shortcuts.add(method, { pattern, dialect, handlers: [...ahead, ...before, ...handlers] });
      if (method === 'GET') route.get(...all);
      else if (method === 'POST') route.post(...all);
      else if (method === 'PATCH') route.patch(...all);
      else route.delete(...all);
    }
    if (first.isLoose === true) continue;
    const methods = group.map(({ method }) => method);
    const elsewhere = loose.filter(({ path }) => matches(path, first.path)).map(({ method }) => method);
    route.all(leaveTo(elsewhere), enter(first.dialect, pattern), ...before, refuseMethod(methods));
  }
}

/** Answers everything that is left with 404; a browser's preflight gets its 204, so that the page can read the 404. */
export function unknownPath(dialect: Dialect, before: readonly RequestHandler[]): RequestHandler[] {
  return [
    enter(dialect, 'unknown'),
    ...before,
    (req, res) => {
      if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
        res.status(204).end();
        return;
      }
      const path = req.originalUrl.split('?', 1).join('').slice(0, 100);
      throw new HttpError(404, 'not_found', `there is nothing at ${path}`);
    },
  ];
}

/** Sets the shape of errors from here on, for those that come before a route is found. */
export function speak(dialect: Dialect): RequestHandler {
  return (req, _res, next) => {
    exchangeOf(req).dialect = dialect;
    next();
  };
}

/** The routes whose method and path no other one has. */
export function withoutThose(routes: readonly Route[], others: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ method, path }) => !others.some((other) => other.method === method && other.path === path),
  );
}

function enter(dialect: Dialect, pattern: string): RequestHandler {
  return (req, _res, next) => {
    enterRoute(req, dialect, pattern);
    next(exchangeOf(req).refusal);
  };
}

/** Whether a route or its path is a probe's: those are neither limited nor counted, and carry no notices. */
export function isProbe(route: string): boolean {
  return route.endsWith('/health');
}

/** Whether a path in Express's notation covers another one. */
function matches(pattern: string, path: string): boolean {
  const [parts, others] = [pattern.split('/'), path.split('/')];
  return (
    parts.length === others.length && parts.every((part, n) => part.startsWith(':') || part === others[n])
  );
}

/** Leaves requests with these methods to a later route that covers the path, too. */
function leaveTo(methods: readonly string[]): RequestHandler {
  return (req, _res, next) => {
    if (methods.includes(req.method)) next('route');
    else next();
  };
}

function refuseMethod(methods: readonly Method[]): RequestHandler {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const list = [...allow, 'OPTIONS'].join(', ');
  return (req, res) => {
    res.setHeader('Allow', list);
    if (req.method !== 'OPTIONS') {
      throw new HttpError(405, 'method_not_allowed', `${req.method} is not allowed here: use ${list}`);
    }
    res.status(204).end();
  };
}

function byPath(routes: readonly Route[]): Map<string, [Route, ...Route[]]> {
  const groups = new Map<string, [Route, ...Route[]]>();
  for (const route of routes) {
    const group = groups.get(route.path);
    if (group === undefined) groups.set(route.path, [route]);
    else group.push(route);
  }
  return groups;
}
