import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Dialect } from '../response/errors.js';
import { matchesTag } from '../response/etag.js';
import type { Route } from '../routing/route.js';

/** Something to look at that stands beside the surfaces and belongs to none of them. `GET`, and so `HEAD`. */
export interface Page {
  /** In Express's notation, from the root on: `/docs`. */
  readonly path: string;
  readonly handlers: readonly RequestHandler[];
}

/**
 * What a page may load: its own origin alone. Packages that draw write styles, and pictures into style sheets; no
 * script is inline.
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

/** Pages as routes: other methods are a 405 there as everywhere. */
export function pageRoutes(pages: readonly Page[], dialect: Dialect): readonly Route[] {
  return pages.map(({ path, handlers }) => ({ method: 'GET', path, targetsApp: false, dialect, handlers }));
}

/** For answers that a browser shows as a page: lets it load what this service serves, and nothing else. */
export const allowOwnResources: RequestHandler = (_req, res, next) => {
  res.setHeader('Content-Security-Policy', POLICY);
  next();
};

/** An answer that is always the same, encoded once. */
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

/** Sends it, or 304 when the client has just that. */
export function sendEncoded(req: Request, res: Response, { type, body, etag }: Encoded): void {
  res.setHeader('ETag', etag);
  res.setHeader('Cache-Control', 'no-cache');
  if (matchesTag(req.headers['if-none-match'], etag)) {
    res.status(304).end();
    return;
  }
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', body.length);
  res.end(body);
}
