import type { EventBody, LoggedEvent, SystemEvent } from '../../core/event.js';
import type { Message } from '../../core/message.js';
import type { Session, TitleSource } from '../../core/session.js';
import type { StoredKey } from '../../core/store.js';
import type { ClaimedTurn, Turn, TurnStatus } from '../../core/turn.js';
import {
  parseApps,
  parseEventBody,
  parseToolCalls,
  parseToolResults,
  parseUserState,
} from './json-columns.js';

/** A row of `sessions`. Writers change it in memory and save it whole. */
export interface SessionRow {
  readonly ref: number;
  readonly id: string;
  title: string;
  title_source: TitleSource;
  wallet: string | null;
  rig: string | null;
  client: string | null;
  app: string | null;
  user_state: string | null;
  interrupted: number;
  created_at: number;
  active_at: number;
  revision: number;
  version: number;
  last_event_id: number;
  last_turn_no: number;
  last_system_no: number;
  faults_shown: number;
  faults_claimed_by: string | null;
  faults_claimed_until: number | null;
  incarnation: number;
  deleted_at: number | null;
}

/** A row of `turns`, with the id of its session. */
export interface TurnRow {
  readonly ref: number;
  readonly id: string;
  readonly session: number;
  readonly session_id: string;
  readonly no: number;
  readonly app: string;
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly status: TurnStatus;
  readonly attempt: number;
  readonly losses: number;
  readonly owner: string | null;
  readonly lease_until: number;
  readonly cancel_requested: number;
  readonly created_at: number;
  readonly error: string | null;
  readonly partial_text: string;
}

/** A row of `messages`, with the id of its turn. */
export interface MessageRow {
  readonly id: string;
  readonly turn_id: string;
  readonly turn_no: number;
  readonly position: number;
  readonly role: Message['role'];
  readonly content: string;
  readonly tool_calls: string | null;
  readonly tool_results: string | null;
  readonly created_at: number;
}

export interface EventRow {
  readonly id: number;
  readonly at: number;
  readonly body: string;
}

export interface SystemEventRow {
  readonly n: number;
  readonly kind: SystemEvent['kind'];
  readonly text: string;
}

export interface KeyRow {
  readonly id: string;
  readonly digest: string;
  readonly apps: string;
  readonly label: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

export function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    title: row.title,
    titleSource: row.title_source,
    wallet: row.wallet,
    rig: row.rig,
    client: row.client,
    app: row.app,
    userState: row.user_state === null ? null : parseUserState(row.user_state),
    interrupted: row.interrupted === 1,
    createdAt: row.created_at,
    activeAt: row.active_at,
    lastEventId: row.last_event_id,
    revision: row.revision,
    version: row.version,
  };
}

export function toTurn(row: TurnRow): Turn {
  return {
    id: row.id,
    sessionId: row.session_id,
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
export function toClaimedTurn(row: TurnRow, owner: string): ClaimedTurn {
  return {
    ...toTurn(row),
    status: 'running',
    owner,
    attempt: row.attempt,
    losses: row.losses,
    cancelRequested: row.cancel_requested === 1,
    partialText: row.partial_text,
  };
}

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    turnId: row.turn_id,
    turnNo: row.turn_no,
    position: row.position,
    role: row.role,
    content: row.content,
    toolCalls: row.tool_calls === null ? null : parseToolCalls(row.tool_calls),
    toolResults: row.tool_results === null ? null : parseToolResults(row.tool_results),
    createdAt: row.created_at,
  };
}

export function toEvent(row: EventRow): LoggedEvent {
  const body: EventBody = parseEventBody(row.body);
  return { id: row.id, at: row.at, body };
}

export function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    digest: row.digest,
    apps: parseApps(row.apps),
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
