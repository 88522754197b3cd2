import type { Request, RequestHandler } from 'express';
import type { AdmissionApi } from '../../core/api.js';
import { readQuery } from '../../http/validation/query.js';
import { keyReader, type ReadKey } from './app-key.js';
import { isFree } from '../../http/guards/rate-limit.js';

const SESSION_ID = new Set(['session_id']);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Counts every request against the limits of its session and App key, before any other work. Counts every session and
 * key that the request names anywhere: the route is not known yet, and a name that the route ignores must not hide the
 * one that it uses.
 * @param keyHeaders the headers that may carry an App key
 */
export function admit(core: AdmissionApi, keyHeaders: readonly string[]): RequestHandler {
  const readKeys = keyHeaders.map((name) => keyReader([name]));
  return async (req, _res, next) => {
    if (isFree(req)) {
      next();
      return;
    }
    const [sessions, keys] = [sessionsOf(req), keysOf(req, readKeys)];
    for (let n = 0; n < Math.max(sessions.length, keys.length); n++) {
      await core.admit({ sessionId: sessions[n], key: keys[n] });
    }
    next();
  };
}

/** Skips malformed ids; the route refuses them later. */
function sessionsOf(req: Request): readonly string[] {
  const inPath = /\/api\/sessions\/([^/]+)/i.exec(decoded(req.path))?.[1];
  const named: readonly unknown[] = [req.get('x-session-id'), inQuery(req.url), inPath];
  const ids = named.filter((id) => typeof id === 'string').filter((id) => UUID.test(id));
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

/** Returns the session that the query names; undefined when it cannot be decoded, which the route refuses later. */
function inQuery(url: string): unknown {
  try {
    return readQuery(url, SESSION_ID).session_id;
  } catch {
    return undefined;
  }
}

function keysOf({ headers }: Request, readKeys: readonly ReadKey[]): readonly string[] {
  const given = readKeys.map((read) => read(headers)).filter((key) => key !== undefined);
  return [...new Set(given)];
}

/** Returns the decoded path, or an empty path when it cannot be decoded. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '';
  }
}
