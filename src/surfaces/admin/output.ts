import type { Operator, Overview, SpentUse } from '../../core/operations/operator.js';
import type { RecentPoint } from '../../core/operations/recent-activity.js';
import type { FoundText } from '../../core/operations/message-search.js';
import type { Session } from '../../core/model/session.js';
import type { StoredKey } from '../../core/ports/store.js';
import { sessionMark } from '../shared/session.js';

/** An overview as JSON. Times are ISO 8601; durations are in milliseconds. */
export function overview({ status, startedAt, turns, counts, sessions, points, failures }: Overview) {
  return {
    status,
    started_at: time(startedAt),
    ...counts,
    turns: turns.map(({ turnId, sessionId, status: state, app, keyId, attempt, createdAt }) => ({
      turn_id: turnId,
      session: sessionMark(sessionId),
      session_id: sessionId,
      status: state,
      app,
      key_id: keyId,
      attempt,
      created_at: time(createdAt),
    })),
    sessions,
    points: points.map(point),
    failures: failures.map(({ at, turnId, sessionId, app, rig, error, reason }) => ({
      ...{ at: time(at), turn_id: turnId, session_id: sessionId },
      session: sessionId === null ? null : sessionMark(sessionId),
      ...{ app, rig, error, reason },
    })),
  };
}

function point({ at, outcomes, inputTokens, outputTokens, firstText, duration }: RecentPoint) {
  return {
    at: time(at),
    ...outcomes,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    first_text_ms: firstText,
    duration_ms: duration,
  };
}

/** An entry of the session list. `session` is its name in the log. */
export function session({ id, title, wallet, app, rig, createdAt, activeAt }: Session) {
  return {
    ...{ session: sessionMark(id), session_id: id, title, public_key: wallet, app, rig },
    created_at: time(createdAt),
    updated_at: time(activeAt),
  };
}

/** A session that a search in messages found, with a part of the message. */
export function foundText({ session: found, message, excerpt }: FoundText) {
  return { ...session(found), message_id: message.id, role: message.role, excerpt };
}

/** A key without its secret part, which is not stored. */
export function key(stored: Awaited<ReturnType<Operator['listKeys']>>[number]) {
  return { ...keyFields(stored), status: stored.status, revoked_at: timeOrNull(stored.revokedAt) };
}

/** A new key, including its secret part. This is the only response that contains it. */
export function newKey(shown: string, stored: StoredKey) {
  return { key: shown, ...keyFields(stored) };
}

function keyFields({ id, apps, label, createdAt, expiresAt }: StoredKey) {
  return { id, apps, label, created_at: time(createdAt), expires_at: timeOrNull(expiresAt) };
}

/** The used amount of a limit. `session` is the name in the log of the session that used it; null: a key did. */
export function use({ subject, measure, from, amount, limit }: SpentUse) {
  const [kind, id] = subject.split(':', 2);
  const session = kind === 'session' && id !== undefined ? sessionMark(id) : null;
  return { kind, id, session, measure, window_from: time(from), amount, limit };
}

/** The turns and tokens of an App and key. */
export function work(total: Awaited<ReturnType<Operator['listWork']>>[number]) {
  const { app, keyId, keyLabel, turns, inputTokens, outputTokens } = total;
  return {
    ...{ app, key_id: keyId, key_label: keyLabel, turns },
    ...{ input_tokens: inputTokens, output_tokens: outputTokens },
  };
}

/** The storage used by each App's secrets, in bytes of sealed values, names and rows. */
export function secrets({ totals, most }: Awaited<ReturnType<Operator['secrets']>>) {
  return {
    apps: totals.map(({ app, secrets: count, bytes }) => ({ app, secrets: count, bytes })),
    max_bytes: most,
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}
