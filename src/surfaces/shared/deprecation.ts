import type { RequestHandler, Response } from 'express';
import { exchangeOf } from '../../http/request/exchange.js';
import { isProbe } from '../../http/routing/route.js';

/** What the operator says of the legacy surface's end. Times are in milliseconds since the epoch; null: not said. */
export interface LegacySettings {
  readonly deprecatedAt: number | null;
  readonly sunsetAt: number | null;
  /** A page about the change. */
  readonly link: string | null;
}

/** Puts the notice on an answer. Safe to call more than once, before anything else says `Link`. */
export type Notice = (res: Response) => void;

/**
 * The headers that say that what answers will go: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`. Undefined
 * when there is nothing to say.
 * @param successor the base of what takes its place; null where that is not served
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

/** As a handler for everything below a base. */
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
 * As a handler where several dialects are spoken: for the requests that were found to speak this one, but for probes.
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

/** A URL without anything that could end its brackets, and the relations of RFC 9745 and RFC 5829. */
function linksOf(link: string, successor: string | null): string {
  const about = `<${new URL(link).href}>; rel="deprecation"; type="text/html"`;
  return successor === null ? about : `${about}, <${successor}>; rel="successor-version"`;
}
