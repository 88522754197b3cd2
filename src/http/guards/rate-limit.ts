import type { Request, RequestHandler } from 'express';
import { MAX_BODY_BYTES } from '../request/body.js';
import { HttpError } from '../response/errors.js';
import { exchangeOf } from '../request/exchange.js';
import { addHeaders, type HeaderList } from '../response/header-list.js';
import { clientAddress } from '../request/client-address.js';
import type { HttpSettings } from '../settings.js';
import { RequestWindows } from './request-windows.js';
import { isProbe } from '../routing/route.js';

const WINDOW_MS = 60_000;

/**
 * Creates handlers that count requests per client address and minute, send the remaining quota in each response
 * (draft-ietf-httpapi-ratelimit-headers-06), and refuse requests over the limit with 429. Must run after routing. Empty
 * when there is no limit. See docs/decisions/015-own-limiter.md.
 * @param now a monotonic clock, in milliseconds: setting back a wall clock would prolong the wait of a client
 */
export function limitRate(
  { rateLimit, trustProxy }: Pick<HttpSettings, 'rateLimit' | 'trustProxy'>,
  now: () => number = () => performance.now(),
): RequestHandler[] {
  if (rateLimit === 0) return [];
  const windows = new RequestWindows(WINDOW_MS);
  const limit = String(rateLimit);
  const policy: HeaderList = ['RateLimit-Policy', `${limit};w=60`, 'RateLimit-Limit', limit];
  return [
    (req, res, next) => {
      if (isFree(req)) {
        next();
        return;
      }
      const at = now();
      const cost = costOf(req);
      const window = windows.count(clientAddress(req, trustProxy), at, cost);
      const seconds = Math.max(0, Math.ceil(Math.round(window.endsAt - at) / 1000));
      const remaining = Math.max(0, rateLimit - window.cost);
      addHeaders(res, policy);
      addHeaders(res, ['RateLimit-Remaining', String(remaining), 'RateLimit-Reset', String(seconds)]);
      // A request passes while any quota is left, so that a large request can pass even a low limit.
      if (window.cost - cost < rateLimit) {
        next();
        return;
      }
      const message = `more than ${limit} requests a minute from this address: try again in ${String(seconds)} s`;
      next(new HttpError(429, 'rate_limited', message, seconds));
    },
  ];
}

/** Bytes of the target, headers and body together that count as one more request. */
const BYTES_A_COUNT = 65_536;

/**
 * Returns the number of requests that a request counts as: one, plus one for each full 64 KiB of its target, headers and
 * body. A body without `Content-Length` counts as the largest allowed one.
 */
function costOf({ headers, rawHeaders, url }: Request): number {
  const announced = headers['content-length'];
  const isOpenEnded = announced === undefined && headers['transfer-encoding'] !== undefined;
  const body = isOpenEnded ? MAX_BODY_BYTES : Math.min(Number(announced ?? 0), MAX_BODY_BYTES);
  let head = url.length;
  for (const text of rawHeaders) head += text.length;
  return 1 + Math.floor((head + body) / BYTES_A_COUNT);
}

/**
 * True when a routed request is exempt from limits: preflights cause no work, and probes must always get a response.
 */
export function isFree(req: Request): boolean {
  return req.method === 'OPTIONS' || isProbe(exchangeOf(req).route);
}
