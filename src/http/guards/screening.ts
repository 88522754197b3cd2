import type { IncomingMessage } from 'node:http';
import { RefusedError } from '../../core/model/refusal.js';
import { HttpError } from '../response/errors.js';
import { isAddressedToLoopback } from './loopback.js';
import type { IsAllowedOrigin } from './origins.js';

/** Decides whether a request may reach its route at all. Returns the refusal otherwise. */
export type Screening = (req: IncomingMessage) => Error | undefined;

/**
 * Screens requests before anything is read or written for them: their `Host` (RFC 9112 §3.2), and, on a service that
 * listens on a loopback address alone, whether a page of another site sent them.
 * @param isAllowed the origins that may call
 */
export function createScreening(options: {
  readonly isLocal: boolean;
  readonly isAllowed: IsAllowedOrigin;
}): Screening {
  const { isLocal, isAllowed } = options;
  return (req) => {
    const wrongHost = findWrongHost(req);
    if (wrongHost !== undefined || !isLocal) return wrongHost;
    if (!isAddressedToLoopback(req)) return misdirected();
    return isForeign(req, isAllowed) ? foreign() : undefined;
  };
}

function findWrongHost(req: IncomingMessage): Error | undefined {
  const hosts = countHosts(req.rawHeaders);
  if (hosts === 1 || (hosts === 0 && req.httpVersion === '1.0')) return undefined;
  const message =
    hosts === 0
      ? 'Host is required: the header that every request of HTTP/1.1 has'
      : 'Host must be given once: the request has several';
  return new RefusedError('invalid', message, [{ path: 'Host', message }]);
}

/** @param rawHeaders names and values in turn */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/**
 * Whether a browser sent the request for a page of another site. Browsers send `Origin` with all but plain GET and HEAD
 * requests; of those, `Sec-Fetch-Site` says where they come from. Following a link to a page is no such request.
 */
function isForeign({ headers, method }: IncomingMessage, isAllowed: IsAllowedOrigin): boolean {
  const { origin, host } = headers;
  if (origin !== undefined) return origin !== `http://${host ?? ''}` && !isAllowed(origin);
  if (headers['sec-fetch-site'] !== 'cross-site' || isAllowed('null')) return false;
  return headers['sec-fetch-mode'] !== 'navigate' || method !== 'GET';
}

function misdirected(): HttpError {
  const message =
    'this service listens on a loopback address and is no other host: address it as localhost, 127.0.0.1 or [::1]';
  return new HttpError(421, 'misdirected', message);
}

function foreign(): RefusedError {
  const message =
    'pages of this origin may not call a service on a loopback address: list the origin in CORS_ORIGINS';
  return new RefusedError('forbidden', message, [{ path: 'Origin', message }]);
}
