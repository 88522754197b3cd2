import type { Request, RequestHandler, Response } from 'express';
import type { Dialect } from '../response/errors.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One endpoint. `GET` routes also handle `HEAD`. */
export interface Route {
  readonly method: Method;
  /** The path below the base, with parameters in Express's notation: `/api/sessions/:id`. */
  readonly path: string;
  /** True when the request names an App and is authorized by its App key. */
  readonly targetsApp: boolean;
  /** The format of error responses. */
  readonly dialect: Dialect;
  readonly handlers: readonly RequestHandler[];
  /**
   * True when the pattern does not respond with 405 for other methods but with 404. Its own method also applies to
   * other routes' paths that the pattern matches.
   */
  readonly isLoose?: boolean;
  /** True when a successful response is an event stream. */
  readonly isStream?: boolean;
  /** Returns the name of the request's dialect when the route supports several; absent: the dialect of its errors. */
  readonly spoken?: (req: Request, res: Response) => string | Promise<string>;
}

/** Returns the routes whose method and path do not occur among the others. */
export function withoutThose(routes: readonly Route[], others: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ method, path }) => !others.some((other) => other.method === method && other.path === path),
  );
}

/** True for a health probe. Probes are exempt from limits and metrics, and carry no deprecation headers. */
export function isProbe(route: string): boolean {
  return route.endsWith('/health');
}
