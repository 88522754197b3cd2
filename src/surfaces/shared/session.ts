import { hash } from 'node:crypto';
import type { SessionRef } from '../../core/model/session.js';
import { optionalText, requiredText, type Param, type Place } from '../../http/validation/params.js';

const PURPOSE = 'the UUID of the session';

/** A UUID as most clients write it, which the chain leaves as it is. What has a mark is the id of a session. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const isPlainId = (text: string): boolean => marks.has(text) || UUID.test(text);

/** The `X-Session-Id` header, required. */
export const sessionHeader = requiredId('headers', 'X-Session-Id');

/** The `session_id` query parameter, required. */
export const sessionQuery = requiredId('query-only', 'session_id');

/** The `id` of a path, required. */
export const sessionPath = requiredId('params', 'id');

/** The `X-Session-Id` header where it may be absent. */
export const optionalSessionHeader = optionalId('headers', 'X-Session-Id');

/** The `session_id` query parameter where it may be absent. */
export const optionalSessionQuery = optionalId('query-only', 'session_id');

/** A session that a header names: unknown, it is created. */
export function sentByHeader(id: string): SessionRef {
  return { id, ifUnknown: 'create' };
}

/** A session that a query names: unknown, it is not found, as a query never creates one. */
export function sentByQuery(id: string): SessionRef {
  return { id, ifUnknown: 'refuse' };
}

/**
 * Marks of sessions that were asked for lately: each request shows one, and a digest takes 0.7 µs (`createHash` 1.8,
 * and an object to collect). Those of the generation before go all at once: a map from whose beginning single ones are
 * taken becomes slow, since it keeps their places.
 */
let marks = new Map<string, string>();
let earlierMarks = new Map<string, string>();
const MARKS_A_GENERATION = 5_000;

/** The first 8 hex digits of a session id's SHA-256: what logs and tags may show of it. */
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

/** A UUID of any version in any case, kept in lower case. */
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
