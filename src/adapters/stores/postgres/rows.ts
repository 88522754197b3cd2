import type { EventBody, LoggedEvent, SystemEvent } from '../../../core/model/event.js';
import type { Message } from '../../../core/model/message.js';
import type { Quota, Use } from '../../../core/model/quota.js';
import {
  NOTHING_PENDING,
  type Session,
  type SessionFields,
  type TitleSource,
} from '../../../core/model/session.js';
import type { StoredKey } from '../../../core/ports/store.js';
import { wellFormed } from '../../../core/model/text.js';
import type { ClaimedTurn, Turn, TurnStatus } from '../../../core/model/turn.js';

/** A row of `sessions`, in a result or as JSON. */
export interface SessionRow {
  readonly ref: number;
  readonly id: string;
  readonly title: string;
  readonly title_source: TitleSource;
  readonly wallet: string | null;
  readonly rig: string | null;
  readonly client: string | null;
  readonly app: string | null;
  readonly user_state: Session['userState'];
  readonly interrupted: boolean;
  readonly created_at: number;
  readonly active_at: number;
  readonly revision: number;
  readonly version: number;
  readonly last_event_id: number;
  readonly last_turn_no: number;
  readonly faults_shown: number;
  readonly deleted_at: number | null;
  readonly archived: boolean;
  readonly pending: Session['pending'] | null;
}

/** A turn as the SQL function `turn_json` returns it. */
export interface TurnRow {
  readonly id: string;
  readonly no: number;
  readonly app: string;
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly status: TurnStatus;
  readonly attempt: number;
  readonly losses: number;
  readonly owner: string | null;
  readonly cancel_requested: boolean;
  readonly created_at: number;
  readonly error: string | null;
  readonly partial_text: string;
  readonly partial_since: number;
}

/** A row of `messages` with the id of its turn: the columns of `MESSAGE_COLUMNS`. */
export interface MessageRow {
  readonly id: string;
  readonly turn_id: string;
  readonly turn_no: number;
  readonly position: number;
  readonly role: Message['role'];
  readonly content: string;
  readonly tool_calls: Message['toolCalls'];
  readonly tool_results: Message['toolResults'];
  readonly created_at: number;
  readonly origin: 'wallet' | null;
}

/** A row of an outer join: all its fields are null when nothing matched. */
export type Maybe<T> = T | { readonly [K in keyof T]: null };

/** A row of `system_events`. */
export interface SystemEventRow {
  readonly n: number;
  readonly kind: SystemEvent['kind'];
  readonly text: string;
}

/** A row of `app_keys`. */
export interface KeyRow {
  readonly id: string;
  readonly digest: string;
  readonly apps: readonly string[];
  readonly label: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** Lists the columns by name: a prepared `SELECT *` fails after a newer version of the program adds a column. */
export const SESSION_COLUMNS =
  'ref, id, title, title_source, wallet, rig, client, app, user_state, interrupted, created_at, active_at, revision, version, ' +
  'last_event_id, last_turn_no, faults_shown, deleted_at, archived, pending';
/** Columns of `messages m`. */
export const MESSAGE_COLUMNS =
  'm.id, m.turn_id, m.turn_no, m.position, m.role, m.content, m.tool_calls, m.tool_results, m.created_at, m.origin';

export function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    title: row.title,
    titleSource: row.title_source,
    wallet: row.wallet,
    rig: row.rig,
    client: row.client,
    app: row.app,
    userState: row.user_state,
    interrupted: row.interrupted,
    archived: row.archived,
    pending: row.pending ?? NOTHING_PENDING,
    createdAt: row.created_at,
    activeAt: row.active_at,
    lastEventId: row.last_event_id,
    revision: row.revision,
    version: row.version,
  };
}

export function toTurn(row: TurnRow, sessionId: string): Turn {
  return {
    id: row.id,
    sessionId,
    no: row.no,
    app: row.app,
    clientId: row.client_id,
    keyId: row.key_id,
    status: row.status,
    createdAt: row.created_at,
    error: row.error,
  };
}

/** A turn that `owner` has just claimed. */
export function toClaimedTurn(row: TurnRow, sessionId: string, owner: string): ClaimedTurn {
  return {
    ...toTurn(row, sessionId),
    status: 'running',
    owner,
    attempt: row.attempt,
    losses: row.losses,
    cancelRequested: row.cancel_requested,
    partialText: row.partial_text,
    partialSince: row.partial_since,
  };
}

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    turnId: row.turn_id,
    turnNo: row.turn_no,
    position: row.position,
    role: row.role,
    ...(row.origin !== null && { origin: row.origin }),
    content: row.content,
    toolCalls: row.tool_calls,
    toolResults: row.tool_results,
    createdAt: row.created_at,
  };
}

export function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    digest: row.digest,
    apps: row.apps,
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

/** Converts events to the two array parameters of a write: all bodies as JSON, and the texts of the system notices. */
export function toEventLists(bodies: readonly EventBody[]): readonly [bodies: string[], notices: string[]] {
  const notices = bodies.flatMap((body) => (body.type === 'system_notice' ? [body.message] : []));
  return [bodies.map((body) => JSON.stringify(body)), notices.map(wellFormed)];
}

/** Numbers the events of a write, the last of which got the id `lastEventId`. */
export function toLogged(bodies: readonly EventBody[], lastEventId: number, at: number): LoggedEvent[] {
  return bodies.map((body, index) => ({ id: lastEventId - bodies.length + 1 + index, at, body }));
}

/**
 * Converts fields to the two parameters of a write: columns as a JSON object, and the user state as JSON (null: keep
 * the stored one).
 */
export function toFields(set: SessionFields): readonly [columns: string, state: string | null] {
  const { titleSource, userState, ...columns } = set;
  const fields = titleSource === undefined ? columns : { ...columns, title_source: titleSource };
  return [toJson(fields), userState === undefined ? null : JSON.stringify(userState)];
}

/** Converts messages to the JSON parameter of a write. Of several with the same id, only the last is kept. */
export function toRecords(messages: readonly Message[]): string {
  const last = new Map(messages.map((message) => [message.id, message]));
  return toJson(
    [...last.values()].map(({ id, position, role, origin, content, toolCalls, toolResults, createdAt }) => ({
      ...{ id, position, role, origin, content, created_at: createdAt },
      tool_calls: toolCalls === null ? null : JSON.stringify(toolCalls),
      tool_results: toolResults === null ? null : JSON.stringify(toolResults),
    })),
  );
}

/** Converts quotas to the JSON parameter of a write, numbered by their index; null when the list is empty. */
export function toQuotas(quotas: readonly Quota[]): string | null {
  if (quotas.length === 0) return null;
  return toJson(
    quotas.map(({ subject, measure, from, limit }, n) => ({
      n,
      subject,
      measure,
      window_from: from,
      bound: limit,
    })),
  );
}

/** Converts uses to the JSON parameter of a write; null when the list is empty. */
export function toUses(uses: readonly Use[]): string | null {
  return uses.length === 0 ? null : toJson(uses.map(toUse));
}

/** Returns the columns of a use. */
export function toUse({ subject, measure, from, amount }: Use) {
  return { subject, measure, window_from: from, amount };
}

/** Serializes to JSON that PostgreSQL can parse: it rejects NUL and lone surrogates even when they are escaped. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? wellFormed(item) : item));
}
