/**
 * Finds the route of a path without parameters by its name, before Express is asked, which tries its routes one after
 * another: there are over forty in three bases: by the profile, 4 µs of a request, of the 12 that bare `node:http`
 * takes for everything. Whatever is spelled otherwise (case, a slash at the end, another method) goes the long way.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Dialect } from './errors.js';
import { enterRoute } from './exchange.js';

/** A route that was found. */
interface Shortcut {
  readonly pattern: string;
  readonly dialect: Dialect;
  readonly handlers: readonly RequestHandler[];
}

/** Told once the handlers are through with a request, or have failed. */
export type Onward = (req: Request, res: Response, error?: unknown) => void;

/** The routes that can be found by method and path. */
export class Shortcuts {
  readonly #methods = new Map<string, Map<string, Shortcut>>();

  /** Adds a route, unless one of that method and path is there already. */
  add(method: string, shortcut: Shortcut): void {
    if (shortcut.pattern.includes(':')) return;
    for (const name of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const paths = this.#methods.get(name) ?? new Map<string, Shortcut>();
      this.#methods.set(name, paths);
      if (!paths.has(shortcut.pattern)) paths.set(shortcut.pattern, shortcut);
    }
  }

  /**
   * Answers a request by its route. @returns false when it has to go the long way
   * @param onward where a request goes that its handlers do not answer
   */
  take(req: Request, res: Response, onward: Onward): boolean {
    const { url } = req;
    const end = url.indexOf('?');
    const shortcut = this.#methods.get(req.method)?.get(end === -1 ? url : url.slice(0, end));
    if (shortcut === undefined) return false;
    enterRoute(req, shortcut.dialect, shortcut.pattern);
    // As Express leaves it; `baseUrl` and `params` are what they are made with.
    req.originalUrl = url;
    run(shortcut.handlers, req, res, onward);
    return true;
  }
}

/** Runs handlers one after another, as a route of Express does: the first error ends them. */
function run(handlers: readonly RequestHandler[], req: Request, res: Response, onward: Onward): void {
  let at = 0;
  const next: NextFunction = (error?: unknown): void => {
    const handler = handlers[at++];
    if ((error !== undefined && error !== null) || handler === undefined) {
      onward(req, res, error);
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
