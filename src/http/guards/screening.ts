import type { IncomingMessage } from 'node:http';
import { RefusedError } from '../../core/model/refusal.js';
import { HttpError } from '../response/errors.js';
import { isAddressedToLoopback } from './loopback.js';
import type { IsAllowedOrigin } from './origins.js';
import type { ScreeningRefusal } from '../request/exchange.js';

/** Node 20 drops the headers of a request after this number of them; later versions refuse the request. */
export const MAX_HEADERS = 1_000;

export const HEADERS_TOO_LARGE = `the headers are too many or too large: at most ${String(MAX_HEADERS - 1)} are accepted, and 1 MiB with the request line`;

export const WRONG_VERSION = 'the HTTP version is not supported: use HTTP/1.1';

/** Returns why to refuse a request; undefined when the request may reach its route. */
export type Screening = (req: IncomingMessage) => ScreeningRefusal | undefined;

/**
 * Creates a check that runs before any other work for a request. It checks the number of headers, the `Host` header (RFC
 * 9112 §3.2), the transfer coding (§6.1) and, if the service listens on a loopback address only, whether a page of
 * another site sent the request.
 * @param isAllowed the rule for origins that may call
 */
export function createScreening(options: {
  readonly isLocal: boolean;
  readonly isAllowed: IsAllowedOrigin;
}): Screening {
  const { isLocal, isAllowed } = options;
  return (req) => {
    const malformed =
      findWrongVersion(req) ?? findDroppedHeaders(req) ?? findWrongHost(req) ?? findUnknownCoding(req);
    if (malformed !== undefined) return { error: malformed, isCounted: true };
    if (!isLocal) return undefined;
    // Not counted: a page of another site could use up the limits of the person who looks at it.
    if (!isAddressedToLoopback(req)) return { error: misdirected(), isCounted: false };
    return isForeign(req, isAllowed) ? { error: foreign(), isCounted: false } : undefined;
  };
}

/** Node's parser also takes 0.9 and 2.0 for versions. */
function findWrongVersion({ httpVersion }: IncomingMessage): Error | undefined {
  if (httpVersion === '1.1' || httpVersion === '1.0') return undefined;
  return new HttpError(505, 'invalid', WRONG_VERSION);
}

/** Among dropped headers could be the length of a body, which would then be ignored, or an address that a proxy added. */
function findDroppedHeaders({ rawHeaders }: IncomingMessage): Error | undefined {
  if (rawHeaders.length < 2 * MAX_HEADERS) return undefined;
  return new HttpError(431, 'invalid', HEADERS_TOO_LARGE);
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

/** Node decodes only `chunked`, and leaves the codings before it as they are. */
function findUnknownCoding({ headers }: IncomingMessage): Error | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined || /^[ \t]*(?:chunked[ \t]*)?$/i.test(coding)) return undefined;
  return new HttpError(
    501,
    'invalid',
    'Transfer-Encoding must be chunked: no other transfer coding is supported',
  );
}

/** @param rawHeaders alternating names and values */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/**
 * True when a browser sent the request for a page of another site. Browsers send `Origin` with all requests except
 * plain GET and HEAD; for those, `Sec-Fetch-Site` names the origin. Following a link does not count.
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
