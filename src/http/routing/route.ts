import type { Request, RequestHandler, Response } from 'express';
import type { Dialect } from '../response/errors.js';

/** The methods that routes take. */
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** One endpoint. `GET` takes `HEAD` too. */
export interface Route {
  readonly method: Method;
  /** Below its base, with parameters in Express's notation: `/api/sessions/:id`. */
  readonly path: string;
  /** True when the request names an App, so that the App key decides. */
  readonly targetsApp: boolean;
  /** The shape of its errors. */
  readonly dialect: Dialect;
  readonly handlers: readonly RequestHandler[];
  /**
   * True for a pattern whose other methods are unknown: they get 404, not 405. It also takes its method on the paths of
   * other routes that it covers.
   */
  readonly isLoose?: boolean;
  /** Names the dialect of a request, where the route takes several; absent: the dialect of its errors. */
  readonly spoken?: (req: Request, res: Response) => string | Promise<string>;
}

/** The routes whose method and path none of the others has. */
export function withoutThose(routes: readonly Route[], others: readonly Route[]): readonly Route[] {
  return routes.filter(
    ({ method, path }) => !others.some((other) => other.method === method && other.path === path),
  );
}

/** Whether a route or its path is a probe: probes are neither limited nor counted, and carry no notices. */
export function isProbe(route: string): boolean {
  return route.endsWith('/health');
}
