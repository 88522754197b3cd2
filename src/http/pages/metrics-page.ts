import type { IncomingHttpHeaders } from 'node:http';
import { RefusedError } from '../../core/model/refusal.js';
import { carriesToken } from '../request/bearer.js';
import type { Dialect } from '../response/errors.js';
import { isLoopbackAuthority, isLoopbackName } from '../guards/loopback.js';
import type { Route } from '../routing/route.js';

/** What `GET /metrics` shows, and to whom. */
export interface MetricsPage {
  /** Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Whoever carries it may read; null: whoever asks from this machine, by its own name, and for nobody else. */
  readonly token: string | null;
}

/** `GET /metrics`. Numbers of use are nobody's but the operator's. */
export function metricsRoute(page: MetricsPage, dialect: Dialect): Route {
  return {
    method: 'GET',
    path: '/metrics',
    targetsApp: false,
    dialect,
    handlers: [
      async (req, res) => {
        // A web page that is open on the operator's machine is not the operator.
        res.removeHeader('Access-Control-Allow-Origin');
        if (page.token !== null && !carriesToken(req.headers.authorization, page.token)) {
          res.setHeader('WWW-Authenticate', 'Bearer realm="metrics"');
          throw new RefusedError(
            'unauthenticated',
            'Authorization: Bearer with the METRICS_TOKEN is required',
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
 * Whether somebody on this machine asks for themselves. A proxy on it asks from here, too, but for others; and a name
 * that leads here may be a stranger's.
 */
export function isFromHere(remoteAddress = '', headers: IncomingHttpHeaders): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  return isLoopbackName(remoteAddress) && isLoopbackAuthority(headers.host ?? '');
}
