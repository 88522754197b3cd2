import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Dialect } from '../response/errors.js';
import { matchesTag } from '../response/etag.js';
import type { Route } from '../routing/route.js';

/** A page outside the API surfaces, for `GET` and `HEAD`. */
export interface Page {
  /** The path from the root, in Express's notation: `/docs`. */
  readonly path: string;
  readonly handlers: readonly RequestHandler[];
}

/**
 * Content security policy of pages: everything from this origin only. Packages that render pages use inline styles and
 * `data:` images; no script is inline.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Converts pages into routes, so that other methods get 405. */
export function pageRoutes(pages: readonly Page[], dialect: Dialect): readonly Route[] {
  return pages.map(({ path, handlers }) => ({ method: 'GET', path, targetsApp: false, dialect, handlers }));
}

/** Sets a content security policy that lets a page load resources of this service only. */
export const allowOwnResources: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', POLICY);
  next();
};

/** A response with constant content, encoded once. */
export interface Encoded {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

/** @param type the content type */
export function encoded(type: string, content: string | Buffer): Encoded {
  const body = Buffer.from(content);
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/** Returns the handler that sends constant content. */
export function constant(answer: Encoded, cacheControl?: string): RequestHandler {
  return (req, res) => {
    sendEncoded(req, res, answer, cacheControl);
  };
}

/** Sends the content, or 304 when the client has the current version. */
export function sendEncoded(
  req: Request,
  res: Response,
  { type, body, etag }: Encoded,
  cacheControl = 'no-cache',
): void {
  res.setHeader('ETag', etag);
  res.setHeader('Cache-Control', cacheControl);
  if (matchesTag(req.headers['if-none-match'], etag)) {
    res.status(304).end();
    return;
  }
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', body.length);
  res.end(body);
}
