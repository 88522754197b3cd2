/**
 * Finds the route of a path without parameters by its name, where Express tries its routes one after another: there are over forty
 * in three bases. Whatever is spelled otherwise (case, a slash at the end, another method) goes the long way.
 */
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** The routes that can be found by method and path. */
export class Shortcuts {
  readonly #routes = new Map<string, RequestHandler>();

  /** Adds a route, unless one of that method and path is there already. */
  add(method: string, path: string, handlers: readonly RequestHandler[]): void {
    if (path.includes(':')) return;
    for (const name of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const key = `${name} ${path}`;
      if (!this.#routes.has(key)) this.#routes.set(key, inOrder(handlers));
    }
  }

  readonly take: RequestHandler = (req, res, next) => {
    const route = this.#routes.get(`${req.method} ${req.path}`);
    if (route === undefined) next();
    else route(req, res, next);
  };
}

/** Runs handlers one after another, as a route of Express does: the first error goes to `next`. */
function inOrder(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    run(handlers, 0, req, res, next);
  };
}

function run(
  handlers: readonly RequestHandler[],
  at: number,
  req: Request,
  res: Response,
  next: NextFunction,
): void {
  const handler = handlers[at];
  if (handler === undefined) {
    next();
    return;
  }
  const step = (error?: unknown): void => {
    if (error === undefined || error === null) run(handlers, at + 1, req, res, next);
    else next(error);
  };
  try {
    const pending: unknown = handler(req, res, step);
    if (pending instanceof Promise) pending.catch(next);
  } catch (error) {
    next(error);
  }
}
