import type { IncomingHttpHeaders } from 'node:http';
import { RefusedError } from '../../core/model/refusal.js';
import { carriesToken } from '../request/bearer.js';
import type { Dialect } from '../response/errors.js';
import { isLoopbackAuthority, isLoopbackName, isLoopbackOrigin } from '../guards/loopback.js';
import type { CorsOrigins } from '../guards/origins.js';
import type { Route } from '../routing/route.js';

/** The content of `GET /metrics` and its access rule. */
export interface MetricsPage {
  /** In the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
  /**
   * The bearer token that a reader must send; null: only direct requests from this machine, under a loopback name, are
   * allowed.
   */
  readonly token: string | null;
}

/**
 * Creates the route `GET /metrics`, which only the operator may read.
 * @param needsToken whether a token is required even from this machine, see `isPublished`
 */
export function metricsRoute(page: MetricsPage, needsToken: boolean, dialect: Dialect): Route {
  return {
    method: 'GET',
    path: '/metrics',
    targetsApp: false,
    dialect,
    handlers: [
      async (req, res) => {
        // Web pages must not read the metrics, even when open on the operator's machine.
        res.removeHeader('Access-Control-Allow-Origin');
        if (page.token !== null && !carriesToken(req.headers.authorization, page.token)) {
          res.setHeader('WWW-Authenticate', 'Bearer realm="metrics"');
          throw new RefusedError(
            'unauthenticated',
            'Authorization: Bearer with the METRICS_TOKEN is required',
          );
        }
        if (page.token === null && needsToken) {
          throw new RefusedError(
            'forbidden',
            'METRICS_TOKEN must be set to read the metrics, because TRUST_PROXY or CORS_ORIGINS is set',
          );
        }
        if (page.token === null && !isFromHere(req.socket.remoteAddress, req.headers)) {
          throw new RefusedError(
            'forbidden',
            'without METRICS_TOKEN the metrics are shown on this machine alone, at http://127.0.0.1 or http://localhost',
          );
        }
        const text = await page.text();
        res.setHeader('Content-Type', page.contentType);
        res.end(text);
      },
    ],
  };
}

const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * True for a direct request from this machine under a loopback name. A proxy on this machine connects from a loopback
 * address, too, and another host name may resolve to this machine (DNS rebinding).
 */
export function isFromHere(remoteAddress = '', headers: IncomingHttpHeaders): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  return isLoopbackName(remoteAddress) && isLoopbackAuthority(headers.host ?? '');
}

/**
 * True when the settings name a proxy, or pages that this machine does not serve. A proxy on this machine need not send
 * any header that `isFromHere` recognizes, so that a request of anyone can look like one from this machine.
 */
export function isPublished(settings: {
  /** Null: not set. */
  readonly corsOrigins: CorsOrigins | null;
  /** False and 0: no proxy. */
  readonly trustProxy: boolean | number | readonly string[];
}): boolean {
  const { corsOrigins, trustProxy } = settings;
  if (trustProxy !== false && trustProxy !== 0) return true;
  if (corsOrigins === null || corsOrigins === 'loopback') return false;
  return corsOrigins === '*' || !corsOrigins.every(isLoopbackOrigin);
}
