import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { enterRoute, exchangeOf } from '../request/exchange.js';
import type { KnownRoute } from '../observer.js';
import { HttpError, type Dialect } from '../response/errors.js';
import { PathPattern, segmentsOf, type PathParams } from './path-pattern.js';
import type { Route } from './route.js';

/** The routes below one base URL. */
export interface Mount {
  /** Such as `/current`; empty for the root. */
  readonly base: string;
  readonly routes: readonly Route[];
  /** The error format of unknown paths below the base. */
  readonly dialect: Dialect;
  /** Handlers for every request below the base that run before screening, so also for refused requests. */
  readonly ahead?: readonly RequestHandler[];
  /** Handlers for every request below the base that count towards limits. */
  readonly before: readonly RequestHandler[];
}

/** The routes of one path. */
interface Endpoint {
  readonly pattern: PathPattern;
  /** By method, including `HEAD`. */
  readonly methods: ReadonlyMap<string, Entry>;
  /** Handles the methods without a route; undefined: other endpoints may handle them. */
  readonly refused: Entry | undefined;
}

/** The handlers that a request runs through. */
interface Entry {
  readonly pattern: string;
  readonly dialect: Dialect;
  readonly handlers: readonly RequestHandler[];
}

/**
 * All routes of a server. Looks up literal paths in a map and tries patterns in order of registration. On a known path,
 * other methods get 405 with `Allow`, and `OPTIONS` gets 204 with `Allow`.
 */
export class RouteTable {
  readonly #endpoints: Endpoint[] = [];
  readonly #known: KnownRoute[] = [];
  /** The endpoints that match a literal path, by the path in its usual spelling. */
  #literals = new Map<string, readonly Endpoint[]>();
  /** The longest base first. */
  #bases: { readonly mount: Mount; readonly unknown: Entry }[] = [];

  /**
   * Adds the routes below a base after the existing ones. The first mount of a base decides the format of its 404
   * responses.
   */
  mount(mount: Mount): void {
    for (const group of groupByPath(mount.routes)) this.#endpoints.push(endpointOf(group, mount));
    const { base, dialect, routes } = mount;
    for (const { method, path, dialect: spoken, isStream = false } of routes)
      this.#known.push({ surface: spoken.name, method, route: base + path, isStream });
    if (!this.#bases.some((other) => other.mount.base === base)) {
      const unknown = entryOf(mount, { pattern: 'unknown', dialect, handlers: [refuseUnknownPath] });
      this.#bases.push({ mount, unknown });
      this.#bases.sort((a, b) => b.mount.base.length - a.mount.base.length);
    }
    const literals = this.#endpoints.filter(({ pattern }) => pattern.isLiteral);
    this.#literals = new Map(
      literals.map(({ pattern: { text } }) => [text, this.#matching(segmentsOf(text))] as const),
    );
  }

  /** All routes, by the names that their requests have in logs and metrics. */
  get known(): readonly KnownRoute[] {
    return this.#known;
  }

  /** An Express handler that runs the handlers of the request's route. */
  readonly handle: RequestHandler = (req, res, next) => {
    const { path } = req;
    const literal = this.#literals.get(path);
    const segments = literal === undefined ? segmentsOf(path) : [];
    const endpoints = literal ?? this.#matching(segments);
    let refused: Entry | undefined;
    for (const { pattern, methods, refused: refusal } of endpoints) {
      const entry = methods.get(req.method);
      if (entry !== undefined) {
        const params = literal === undefined ? paramsOf(pattern, segments) : {};
        if (params instanceof URIError) enter(this.#malformed(path, params), req, res, next);
        else {
          req.params = params;
          enter(entry, req, res, next);
        }
        return;
      }
      refused ??= refusal;
    }
    enter(refused ?? this.#baseOf(path).unknown, req, res, next);
  };

  /** Returns the matching endpoints in order of registration. */
  #matching(segments: readonly string[]): readonly Endpoint[] {
    return this.#endpoints.filter(({ pattern }) => pattern.matches(segments));
  }

  /** Refuses a path whose parameters cannot be decoded. */
  #malformed(path: string, error: URIError): Entry {
    const { mount } = this.#baseOf(path);
    const refuse: RequestHandler = (_req, _res, next) => {
      next(error);
    };
    return entryOf(mount, { pattern: 'none', dialect: mount.dialect, handlers: [refuse] });
  }

  #baseOf(path: string): { readonly mount: Mount; readonly unknown: Entry } {
    const lower = path.toLowerCase();
    const isBelow = (base: string) => lower === base || lower.startsWith(`${base}/`);
    const found = this.#bases.find(({ mount: { base } }) => isBelow(base)) ?? this.#bases.at(-1);
    if (found === undefined) throw new Error('the table has no routes');
    return found;
  }
}

/** Returns the parameters of a path, or the error when they cannot be decoded. */
function paramsOf(pattern: PathPattern, segments: readonly string[]): PathParams | URIError {
  try {
    return pattern.paramsOf(segments);
  } catch (error) {
    if (error instanceof URIError) return error;
    throw error;
  }
}

function endpointOf(group: readonly [Route, ...Route[]], mount: Mount): Endpoint {
  const [first] = group;
  const pattern = mount.base + first.path;
  const methods = new Map<string, Entry>();
  for (const { method, dialect, handlers } of group) {
    const entry = entryOf(mount, { pattern, dialect, handlers });
    if (!methods.has(method)) methods.set(method, entry);
    if (method === 'GET' && !methods.has('HEAD')) methods.set('HEAD', entry);
  }
  const refusing = { pattern, dialect: first.dialect, handlers: [refuseMethod([...methods.keys()])] };
  const refused = first.isLoose === true ? undefined : entryOf(mount, refusing);
  return { pattern: new PathPattern(pattern), methods, refused };
}

function entryOf({ ahead = [], before }: Mount, entry: Entry): Entry {
  const handlers = [...ahead, refuseUncounted, ...before, refuseCounted, ...entry.handlers];
  return { ...entry, handlers };
}

function groupByPath(routes: readonly Route[]): Iterable<[Route, ...Route[]]> {
  const groups = new Map<string, [Route, ...Route[]]>();
  for (const route of routes) {
    const group = groups.get(route.path);
    if (group === undefined) groups.set(route.path, [route]);
    else group.push(route);
  }
  return groups.values();
}

/** Runs handlers in order, as an Express route does. The first error ends the chain. */
function enter({ pattern, dialect, handlers }: Entry, req: Request, res: Response, done: NextFunction): void {
  enterRoute(req, dialect, pattern);
  let at = 0;
  const next: NextFunction = (error?: unknown): void => {
    const handler = handlers[at++];
    if ((error !== undefined && error !== null) || handler === undefined) {
      done(error);
      return;
    }
    try {
      const pending: unknown = handler(req, res, next);
      if (pending instanceof Promise) pending.catch(next);
    } catch (thrown) {
      next(thrown);
    }
  };
  next();
}

/** Refuses what screening has found, before the limits count the request. */
const refuseUncounted: RequestHandler = (req, _res, next) => {
  const { refusal } = exchangeOf(req);
  next(refusal?.isCounted === false ? refusal.error : undefined);
};

/** Refuses what screening has found and the limits have counted. */
const refuseCounted: RequestHandler = (req, _res, next) => {
  next(exchangeOf(req).refusal?.error);
};

/** Responds with 404. A browser's preflight gets 204, so that the page can read the 404. */
const refuseUnknownPath: RequestHandler = (req, res) => {
  if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
    res.status(204).end();
    return;
  }
  const path = req.originalUrl.split('?', 1).join('').slice(0, 100);
  throw new HttpError(404, 'not_found', `there is nothing at ${path}`);
};

function refuseMethod(methods: readonly string[]): RequestHandler {
  const list = [...methods, 'OPTIONS'].join(', ');
  return (req, res) => {
    res.setHeader('Allow', list);
    if (req.method !== 'OPTIONS') {
      throw new HttpError(405, 'method_not_allowed', `${req.method} is not allowed here: use ${list}`);
    }
    res.status(204).end();
  };
}
