import type { Socket } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { MAX_BODY_BYTES } from '../request/body.js';
import { HttpError } from '../response/errors.js';
import { exchangeOf } from '../request/exchange.js';
import { addHeaders, type HeaderList } from '../response/header-list.js';
import { clientAddress, peerClient } from '../request/client-address.js';
import type { HttpSettings } from '../settings.js';
import { RequestWindows } from './request-windows.js';
import { isProbe } from '../routing/route.js';

const WINDOW_MS = 60_000;

/** The quota of a client after one of its requests was counted. */
export interface Quota {
  /** The remaining quota, as response headers. */
  readonly headers: HeaderList;
  /** The error to refuse the request with; undefined while the request is within the limit. */
  readonly refusal: HttpError | undefined;
}

/** Counts a request that Node's parser rejected, for the peer of its connection. */
export type CountUnparsed = (peer: Pick<Socket, 'remoteAddress'>, bytes: number) => Quota;

/** The limit of requests per client address and minute. */
export interface RateLimit {
  /** Count requests, and refuse those over the limit. Must run after routing. Empty when there is no limit. */
  readonly handlers: readonly RequestHandler[];
  /**
   * Undefined when there is no limit, and where a proxy is trusted: without its headers, a request could only count for
   * the address of the proxy, which may be that of the scrapes of `/metrics`.
   */
  readonly countUnparsed: CountUnparsed | undefined;
}

/**
 * Counts requests per client address and minute, sends the remaining quota in each response
 * (draft-ietf-httpapi-ratelimit-headers-06), and refuses requests over the limit with 429. See
 * docs/decisions/015-own-limiter.md.
 * @param now a monotonic clock, in milliseconds: setting back a wall clock would prolong the wait of a client
 */
export function limitRate(
  { rateLimit, trustProxy }: Pick<HttpSettings, 'rateLimit' | 'trustProxy'>,
  now: () => number = () => performance.now(),
): RateLimit {
  if (rateLimit === 0) return { handlers: [], countUnparsed: undefined };
  const windows = new RequestWindows(WINDOW_MS);
  const limit = String(rateLimit);
  const policy: HeaderList = ['RateLimit-Policy', `${limit};w=60`, 'RateLimit-Limit', limit];

  function count(client: string, bytes: number): Quota {
    const at = now();
    const cost = costOf(bytes);
    const window = windows.count(client, at, cost);
    const seconds = Math.max(0, Math.ceil(Math.round(window.endsAt - at) / 1000));
    const remaining = String(Math.max(0, rateLimit - window.cost));
    const headers = [...policy, 'RateLimit-Remaining', remaining, 'RateLimit-Reset', String(seconds)];
    // A request passes while any quota is left, so that a large request can pass even a low limit.
    if (window.cost - cost < rateLimit) return { headers, refusal: undefined };
    const message = `more than ${limit} requests a minute from this address: try again in ${String(seconds)} s`;
    return { headers, refusal: new HttpError(429, 'rate_limited', message, seconds) };
  }

  const limited: RequestHandler = (req, res, next) => {
    if (isFree(req)) {
      next();
      return;
    }
    const { headers, refusal } = count(clientAddress(req, trustProxy), bytesOf(req));
    addHeaders(res, headers);
    next(refusal);
  };
  return {
    handlers: [limited],
    countUnparsed: trustProxy === false ? (peer, bytes) => count(peerClient(peer), bytes) : undefined,
  };
}

/** Bytes of the target, headers and body together that count as one more request. */
const BYTES_A_COUNT = 65_536;

/** Returns the number of requests that a request counts as: one, plus one for each full 64 KiB. */
function costOf(bytes: number): number {
  return 1 + Math.floor(bytes / BYTES_A_COUNT);
}

/**
 * Returns the size of a request's target, headers and body. A body without `Content-Length` counts as the largest allowed
 * one.
 */
function bytesOf({ headers, rawHeaders, url }: Request): number {
  const announced = headers['content-length'];
  const isOpenEnded = announced === undefined && headers['transfer-encoding'] !== undefined;
  const body = isOpenEnded ? MAX_BODY_BYTES : Math.min(Number(announced ?? 0), MAX_BODY_BYTES);
  let head = url.length;
  for (const text of rawHeaders) head += text.length;
  return head + body;
}

/**
 * True when a routed request is exempt from limits: preflights cause no work, and probes must always get a response.
 */
export function isFree(req: Request): boolean {
  return req.method === 'OPTIONS' || isProbe(exchangeOf(req).route);
}
