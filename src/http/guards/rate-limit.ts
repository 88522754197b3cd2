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
 * Handlers for requests whose route is known: count requests per address and minute, write on each response how many
 * are left (draft-ietf-httpapi-ratelimit-headers-06), and refuse those over the limit with 429. Empty when there is no
 * limit. See docs/decisions/015-own-limiter.md.
 * @param now a steady clock, in milliseconds: a wall clock that is set back would keep a client waiting for as long
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
      // A request passes as long as something was left before it, so that no limit is too low for a large one.
      if (window.cost - cost < rateLimit) {
        next();
        return;
      }
      const message = `more than ${limit} requests a minute from this address: try again in ${String(seconds)} s`;
      next(new HttpError(429, 'rate_limited', message, seconds));
    },
  ];
}

/** So many bytes of its target and body make a request count once more. */
const BYTES_A_COUNT = 65_536;

/**
 * How many requests a request counts as: one, and one more for each whole 64 KiB of its target and its announced body.
 * A body that does not announce its length counts as one of the largest that is read.
 */
function costOf({ headers, url }: Request): number {
  const announced = headers['content-length'];
  const isOpenEnded = announced === undefined && headers['transfer-encoding'] !== undefined;
  const body = isOpenEnded ? MAX_BODY_BYTES : Math.min(Number(announced ?? 0), MAX_BODY_BYTES);
  return 1 + Math.floor((url.length + body) / BYTES_A_COUNT);
}

/**
 * Whether a request whose route is known counts against no limit: preflights cost nothing, and probes must be answered.
 */
export function isFree(req: Request): boolean {
  return req.method === 'OPTIONS' || isProbe(exchangeOf(req).route);
}
