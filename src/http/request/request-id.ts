import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dialect } from '../response/errors.js';
import { beginExchange } from './exchange.js';
import { addHeaders } from '../response/header-list.js';

/** Request ids that are accepted from clients and repeated in logs and headers. */
const SANE = /^[\w.:-]{1,128}$/;
const APP_KEY = /sk-app-/i;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Creates a random request id of 32 hex digits. */
export function newRequestId(): string {
  return randomUUID().replaceAll('-', '');
}

/**
 * Begins the exchange of a request. Accepts the client's `X-Request-Id` if it is well-formed and carries no secret,
 * otherwise creates an id, and sends it in the response.
 * @param dialect the error format until the request has reached its route
 */
export function begin(req: IncomingMessage, res: ServerResponse, dialect: Dialect): void {
  const given = req.headers['x-request-id'];
  const requestId = typeof given === 'string' && isFit(given, req) ? given : newRequestId();
  const startedAt = performance.now();
  beginExchange(req, {
    requestId,
    loggedId: requestId === given ? shortened(given) : requestId,
    startedAt,
    dialect,
    route: 'none',
    session: undefined,
    refusal: undefined,
  });
  addHeaders(res, ['X-Request-Id', requestId]);
}

/**
 * Shortens an id for logs to the first 8 digits of each UUID, because a UUID may be a session id, which grants access
 * to the session.
 */
function shortened(id: string): string {
  return id.replace(UUID, (uuid) => `${uuid.slice(0, 8)}*`);
}

/** Rejects an id that contains an App key or the id of the request's session, because ids are logged. */
function isFit(given: string, { headers, url = '' }: IncomingMessage): boolean {
  if (!SANE.test(given) || APP_KEY.test(given)) return false;
  const ids = given.match(UUID);
  if (ids === null) return true;
  const session = headers['x-session-id'];
  const named = `${url} ${typeof session === 'string' ? session : ''}`.toLowerCase();
  return !ids.some((id) => named.includes(id.toLowerCase()));
}
