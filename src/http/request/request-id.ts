import { randomFillSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dialect } from '../response/errors.js';
import { beginExchange } from './exchange.js';
import { addHeaders } from '../response/header-list.js';

/** What may come in as an id and go out into logs and headers again. */
const SANE = /^[\w.:-]{1,128}$/;
const APP_KEY = /sk-app-/i;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

const ID_BYTES = 16;
/** Random bytes for many ids: a call for each costs more than the rest of the id. */
const pool = Buffer.alloc(256 * ID_BYTES);
let used = pool.length;

/** A random id: 32 hex digits. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.toString('hex', used, (used += ID_BYTES));
}

/**
 * Begins the exchange: takes the caller's `X-Request-Id` if it is sane and no secret, else makes one, and answers with
 * it.
 * @param dialect the shape of errors until a route has said more
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

/** An id for the log. A UUID may be the id of a session, which opens it: of each the first 8 digits are kept. */
function shortened(id: string): string {
  return id.replace(UUID, (uuid) => `${uuid.slice(0, 8)}*`);
}

/** Ids are logged: one that holds an App key, or the id of the session that the request is for, is not taken. */
function isFit(given: string, { headers, url = '' }: IncomingMessage): boolean {
  if (!SANE.test(given) || APP_KEY.test(given)) return false;
  const ids = given.match(UUID);
  if (ids === null) return true;
  const session = headers['x-session-id'];
  const named = `${url} ${typeof session === 'string' ? session : ''}`.toLowerCase();
  return !ids.some((id) => named.includes(id.toLowerCase()));
}
