import { hash } from 'node:crypto';
import type { SessionApi } from '../../core/api.js';
import type { SessionRef } from '../../core/model/session.js';
import { optionalText, requiredText, type Param, type Place } from '../../http/validation/params.js';

const PURPOSE = 'the UUID of the session';

/**
 * A UUID in lower case, which passes the validation chain unchanged. An id that already has a mark was validated
 * before.
 */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const isPlainId = (text: string): boolean => marks.has(text) || UUID.test(text);

export const sessionHeader = requiredId('headers', 'X-Session-Id');

export const sessionQuery = requiredId('query-only', 'session_id');

/** The required path parameter `id`. */
export const sessionPath = requiredId('params', 'id');

export const optionalSessionHeader = optionalId('headers', 'X-Session-Id');

export const optionalSessionQuery = optionalId('query-only', 'session_id');

/** A session named by a header: created if unknown. */
export function sentByHeader(id: string): SessionRef {
  return { id, ifUnknown: 'create' };
}

/** Creates the session that the header of a request names, if any, when it is unknown. */
export async function touchByHeader(core: Pick<SessionApi, 'touch'>, id: string | undefined): Promise<void> {
  if (id !== undefined) await core.touch(sentByHeader(id));
}

/** A session named by a query parameter: refused if unknown. */
export function sentByQuery(id: string): SessionRef {
  return { id, ifUnknown: 'refuse' };
}

/**
 * The session that a query names, after the session of the header was created if it is unknown. If the header names the
 * same one, the store is asked once.
 */
export async function sentByBoth(
  core: Pick<SessionApi, 'touch'>,
  { sessionId, byHeader }: { readonly sessionId: string; readonly byHeader: string | undefined },
): Promise<SessionRef> {
  if (byHeader === sessionId) return sentByHeader(sessionId);
  await touchByHeader(core, byHeader);
  return sentByQuery(sessionId);
}

/**
 * Cache of session marks, because every request needs one. Two generations: deleting the oldest entries of a single map
 * one by one makes it slow, so the older generation is dropped as a whole.
 */
let marks = new Map<string, string>();
let earlierMarks = new Map<string, string>();
const MARKS_A_GENERATION = 5_000;

/**
 * Returns the first 8 hex digits of a session id's SHA-256, which identifies the session in logs and entity tags
 * without revealing the id.
 */
export function sessionMark(id: string): string {
  const known = marks.get(id);
  if (known !== undefined) return known;
  const mark = earlierMarks.get(id) ?? hash('sha256', id).slice(0, 8);
  if (marks.size >= MARKS_A_GENERATION) {
    earlierMarks = marks;
    marks = new Map();
  }
  marks.set(id, mark);
  return mark;
}

/** A UUID of any version in any case, converted to lower case. */
function requiredId(place: Place, name: string): Param<string> {
  const param = requiredText(
    place,
    name,
    PURPOSE,
    (chain) => chain.isUUID('loose').withMessage(`${name} must be a UUID`).toLowerCase(),
    isPlainId,
  );
  return { ...param, markOf: sessionMark };
}

function optionalId(place: Place, name: string): Param<string | undefined> {
  const param = optionalText(
    place,
    name,
    (chain) => chain.isUUID('loose').withMessage(`${name} must be a UUID`).toLowerCase(),
    isPlainId,
  );
  return { ...param, markOf: (id) => (id === undefined ? undefined : sessionMark(id)) };
}
