import type { RequestHandler } from 'express';
import type { Method, Route } from '../../http/routing/route.js';
import { currentDialect } from './output.js';

/** A route of the current surface. */
export function endpoint(method: Method, path: string, handler: RequestHandler): Route {
  return { method, path, targetsApp: false, dialect: currentDialect, handlers: [handler] };
}

/** A route of the current surface that has an `app` parameter and requires the App key. */
export function appEndpoint(method: Method, path: string, handler: RequestHandler): Route {
  return { ...endpoint(method, path, handler), targetsApp: true };
}
