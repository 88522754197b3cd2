import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { HttpError, type Dialect } from '../response/errors.js';
import type { Route } from '../routing/route.js';

/**
 * Content security policy of the built pages: own scripts, styles and requests only; nothing inline, no other host, no
 * framing.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const YEAR_SECONDS = 31_536_000;

/** `Cache-Control` of files whose names contain a digest of their content. */
export const IMMUTABLE = `public, max-age=${String(YEAR_SECONDS)}, immutable`;

/** Ignores `Range`, which no page needs: a long one is slow to parse. */
const STATIC = {
  index: false,
  redirect: false,
  fallthrough: false,
  cacheControl: false,
  acceptRanges: false,
} as const;

/** Returns the pages, HTML files by path, that exist in the build folder. */
export function findFiles(
  folder: string,
  pages: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pages).filter(([, file]) => existsSync(join(folder, file))));
}

/**
 * Serves built pages. Clients revalidate HTML files on each request (`ETag`) and cache the files in `assets`, whose
 * names contain a content hash, without revalidation.
 * @param folder the build folder
 * @param pages the HTML files by path
 * @param hasOthers whether other routes serve further pages; without any page, the assets are not served either
 */
export function fileRoutes(
  folder: string,
  pages: Readonly<Record<string, string>>,
  dialect: Dialect,
  hasOthers = false,
): readonly Route[] {
  const served = Object.entries(pages);
  if (served.length === 0 && !hasOthers) return [];
  const route = (
    path: string,
    headers: Readonly<Record<string, string>>,
    from: string,
    file?: string,
  ): Route => {
    const files = express.static(from, STATIC);
    const handle: RequestHandler<{ file?: string }> = (req, res, next) => {
      const before = Object.keys(headers).map((name) => [name, res.getHeader(name) ?? ''] as const);
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
      req.url = `/${encodeURIComponent(file ?? req.params.file ?? '')}`;
      // Express parses both, and fails for a target that is no URL.
      req.originalUrl = req.url;
      files(req, res, (error?: unknown) => {
        for (const [name, value] of before) res.setHeader(name, value);
        next(toError(error));
      });
    };
    return { method: 'GET', path, targetsApp: false, dialect, handlers: [handle] };
  };
  const asked = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': PAGE_POLICY };
  const kept = { 'Cache-Control': IMMUTABLE };
  return [
    ...served.map(([path, file]) => route(path, asked, folder, file)),
    route('/assets/:file', kept, join(folder, 'assets')),
  ];
}

/** Converts an error of `send`: most client errors mean no such file, a folder, or an invalid name. */
function toError(error: unknown): unknown {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  if (status === 412) {
    return new HttpError(412, 'precondition_failed', 'the file does not meet the conditions of the request');
  }
  return status >= 400 && status < 500 ? new HttpError(404, 'not_found', 'there is no such file') : error;
}
