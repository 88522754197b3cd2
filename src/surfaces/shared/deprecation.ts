import type { RequestHandler, Response } from 'express';
import { exchangeOf } from '../../http/request/exchange.js';
import { isProbe } from '../../http/routing/route.js';

/** The announced end of the legacy surface. Times are in milliseconds since the epoch; null: not announced. */
export interface LegacySettings {
  readonly deprecatedAt: number | null;
  readonly sunsetAt: number | null;
  /** The URL of a page about the change. */
  readonly link: string | null;
}

/** Adds the notice to a response. Idempotent; must run before any other code sets `Link`. */
export type Notice = (res: Response) => void;

/**
 * Creates the function that adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` headers. Undefined when
 * nothing is announced.
 * @param successor the base path of the successor; null if it is not exposed
 */
export function createNotice(settings: LegacySettings, successor: string | null): Notice | undefined {
  const { deprecatedAt, sunsetAt, link } = settings;
  const headers: [string, string][] = [];
  if (deprecatedAt !== null) headers.push(['Deprecation', `@${String(Math.floor(deprecatedAt / 1000))}`]);
  if (sunsetAt !== null) headers.push(['Sunset', new Date(sunsetAt).toUTCString()]);
  if (link !== null) headers.push(['Link', linksOf(link, successor)]);
  if (headers.length === 0) return undefined;
  return (res) => {
    for (const [name, value] of headers) res.setHeader(name, value);
  };
}

/** Creates handlers that add the notice to every response below a base. */
export function noticeAll(notice: Notice | undefined): RequestHandler[] {
  if (notice === undefined) return [];
  return [
    (_req, res, next) => {
      notice(res);
      next();
    },
  ];
}

/**
 * Creates handlers for a base with several dialects: they add the notice to responses in the named dialect, except to
 * health probes.
 */
export function noticeDialect(notice: Notice | undefined, name: string): RequestHandler[] {
  if (notice === undefined) return [];
  return [
    (req, res, next) => {
      const { dialect, route } = exchangeOf(req);
      if (dialect.name === name && !isProbe(route)) notice(res);
      next();
    },
  ];
}

/**
 * Formats the `Link` header with the relations of RFC 9745 and RFC 5829. Normalizing the URL escapes characters that
 * could end the angle brackets.
 */
function linksOf(link: string, successor: string | null): string {
  const about = `<${new URL(link).href}>; rel="deprecation"; type="text/html"`;
  return successor === null ? about : `${about}, <${successor}>; rel="successor-version"`;
}
