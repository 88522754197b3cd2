import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { HttpError, type Dialect } from './errors.js';
import type { Route } from './routes.js';

/**
 * What a page of ours may do in a browser: run our own files, and talk to this service. Nothing inline, no other host,
 * and no frame around it.
 */
const PAGE_POLICY = [
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

/** The pages, HTML files by their paths, that were built into a folder. */
export function findPages(
  folder: string,
  pages: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(pages).filter(([, file]) => existsSync(join(folder, file))));
}

/**
 * Serves built pages: each HTML file under its path, asked for anew each time (`ETag`), and the files in `assets`, whose
 * names carry a digest of what they hold, for ever.
 * @param folder where the build is
 * @param pages the HTML files by their paths; none: nothing is served
 */
export function pageRoutes(
  folder: string,
  pages: Readonly<Record<string, string>>,
  dialect: Dialect,
): readonly Route[] {
  const served = Object.entries(pages);
  if (served.length === 0) return [];
  const files = express.static(folder, {
    index: false,
    redirect: false,
    fallthrough: false,
    cacheControl: false,
  });
  const route = (path: string, headers: Readonly<Record<string, string>>, file?: string): Route => ({
    ...{ method: 'GET', path, targetsApp: false, dialect },
    handlers: [
      (req, res, next) => {
        for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
        if (file !== undefined) req.url = `/${file}`;
        files(req, res, (error?: unknown) => {
          for (const name of Object.keys(headers)) res.removeHeader(name);
          next(isAbsent(error) ? new HttpError(404, 'not_found', 'there is no such file') : error);
        });
      },
    ],
  });
  const asked = { 'Cache-Control': 'no-cache', 'Content-Security-Policy': PAGE_POLICY };
  const kept = { 'Cache-Control': `public, max-age=${String(YEAR_SECONDS)}, immutable` };
  return [...served.map(([path, file]) => route(path, asked, file)), route('/assets/:file', kept)];
}

/** Whether the answer to this is 404: no such file, a folder, or a name that no file has. */
function isAbsent(error: unknown): boolean {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500;
}
