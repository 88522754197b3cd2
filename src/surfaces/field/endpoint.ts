import type { Request, RequestHandler, Response } from 'express';
import type { Core } from '../../core/api.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { SessionRef } from '../../core/model/session.js';
import { exchangeOf } from '../../http/request/exchange.js';
import type { Method, Route } from '../../http/routing/route.js';
import type { Streams } from '../../http/sse/streams.js';
import { handle, type Input } from '../../http/validation/input.js';
import type { ReadKey } from '../shared/app-key.js';
import { sessionMark } from '../shared/session.js';
import type { IdleStreams } from './idle-streams.js';
import { fieldDialect } from './output.js';
import { nameSession, sentOnce, type NamedSession } from './session-id.js';

/** The dependencies of the field surface's routes. */
export interface FieldParts {
  readonly core: Core;
  readonly streams: Streams;
  readonly readKey: ReadKey;
  readonly idleStreams: IdleStreams;
  readonly addressOf: (req: Request) => string;
}

/** The parameters that say who sends a request. */
interface Asked {
  readonly sessionId?: string | undefined;
  readonly clientId?: string | undefined;
}

/** Handles a request with its checked parameters and its App key. */
type Act<T, S> = (
  asked: T & { readonly appKey: string | undefined },
  named: S,
  req: Request,
  res: Response,
) => Promise<void>;

/** A route of the field surface. */
export function endpoint(method: Method, path: string, handler: RequestHandler): Route {
  return { method, path, targetsApp: false, dialect: fieldDialect, handlers: [handler] };
}

/** A route of the field surface that has an `app` parameter and requires the App key. */
export function appEndpoint(method: Method, path: string, handler: RequestHandler): Route {
  return { ...endpoint(method, path, handler), targetsApp: true };
}

/** Creates a handler for requests that name a session. */
export function inSession<T extends Asked & { readonly sessionId: string }>(
  parts: FieldParts,
  input: Input<T>,
  act: Act<T, NamedSession>,
): RequestHandler {
  return handle(input, async (asked, req, res) => {
    const appKey = parts.readKey(req.headers);
    const named = await identify(parts, req, { ...asked, appKey });
    await act({ ...asked, appKey }, named, req, res);
  });
}

/** Creates a handler for requests that may name a session. */
export function withSession<T extends Asked>(
  parts: FieldParts,
  input: Input<T>,
  act: Act<T, NamedSession | undefined>,
): RequestHandler {
  return handle(input, async (asked, req, res) => {
    const appKey = parts.readKey(req.headers);
    const { sessionId, clientId } = asked;
    const named =
      sessionId === undefined ? undefined : await identify(parts, req, { sessionId, clientId, appKey });
    await act({ ...asked, appKey }, named, req, res);
  });
}

/**
 * Returns the session of a request that needs one.
 * @throws RefusedError `invalid` when the id names none
 */
export function namedSession({ session }: NamedSession): SessionRef {
  if (session !== undefined) return session;
  const message =
    'X-Session-Id must be a UUID here, unless the request has a client_id or an App key: others can guess this id';
  throw new RefusedError('invalid', message, [{ path: 'X-Session-Id', message }]);
}

/**
 * Returns the session of a path.
 * @throws RefusedError `not_found` when the id names none
 */
export function pathSession({ session }: NamedSession): string {
  if (session !== undefined) return session.id;
  throw new RefusedError('not_found', 'There is no session with this id');
}

/** Resolves with another value when the session was deleted. */
export async function unlessDeleted<T>(found: T | Promise<T>, instead: () => T): Promise<T> {
  try {
    return await found;
  } catch (error) {
    const isDeleted = error instanceof RefusedError && ['not_found', 'gone'].includes(error.reason);
    if (isDeleted) return instead();
    throw error;
  }
}

/**
 * Finds the session of a request. An id that is no UUID, or was sent twice, counts against the limits of its session
 * only here: what it names is not known before the parameters are.
 */
async function identify(
  { core }: FieldParts,
  req: Request,
  sent: {
    readonly sessionId: string;
    readonly clientId?: string | undefined;
    readonly appKey: string | undefined;
  },
): Promise<NamedSession> {
  const sentId = sentOnce(req, sent.sessionId);
  const named = nameSession(sentId, { clientId: sent.clientId, appKey: sent.appKey });
  const { session } = named;
  if (session === undefined) return named;
  exchangeOf(req).session = sessionMark(session.id);
  const isCounted = !named.isAlias && sentId === sent.sessionId;
  if (!isCounted && core.countsRequests) await core.admit({ sessionId: session.id, key: undefined });
  return named;
}
