import type { EventBody, LoggedEvent, SystemEvent } from '../../../../core/model/event.js';
import type { Message } from '../../../../core/model/message.js';
import type { StoredKey } from '../../../../core/ports/store.js';
import type { ClaimedTurn, Turn, TurnStatus, TurnSummary } from '../../../../core/model/turn.js';
import { parseApps, parseEventBody, parseToolCalls, parseToolResults } from './json-columns.js';

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
  readonly partial_since: number;
}

/** The columns of `turns` that say how a turn went. */
export interface TurnSummaryRow extends Pick<
  TurnRow,
  'id' | 'no' | 'app' | 'status' | 'error' | 'created_at'
> {
  readonly ended_at: number | null;
  readonly rig: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/**
 * The columns of a message `m`. Read as an array, which is faster than an object, with the id of its turn first.
 */
export const MESSAGE_COLUMNS =
  'm.id, m.turn_no, m.position, m.role, m.content, m.tool_calls, m.tool_results, m.created_at, m.origin';

/** Selects the messages of a turn in order. Parameters: the turn's id, session and number. */
export const TURN_MESSAGES = `SELECT ?, ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = ? AND m.turn_no = ? ORDER BY m.position`;

/**
 * Selects the system events of a session that exactly one snapshot delivers and none has delivered, in order.
 * Parameters: session, `faults_shown`.
 */
export const SESSION_FAULTS =
  "SELECT n, kind, text FROM system_events WHERE session = ? AND n > ? AND kind <> 'SystemNotice' ORDER BY n";

/** Counts the records of a session that state why their turn failed, as `isFailure` does. Parameter: session. */
export const FAILURE_COUNT =
  "SELECT count(*) FROM messages WHERE session = ? AND role = 'system' AND origin IS NULL AND position > 0";

/** The id of the turn, then the values of `MESSAGE_COLUMNS`. */
export type MessageValues = [
  turnId: string,
  id: string,
  turnNo: number,
  position: number,
  role: Message['role'],
  content: string,
  toolCalls: string | null,
  toolResults: string | null,
  createdAt: number,
  origin: 'wallet' | null,
];

/** A row of `events`. */
export interface EventRow {
  readonly id: number;
  readonly at: number;
  readonly body: string;
}

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
  readonly apps: string;
  readonly label: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
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

export function toTurnSummary(row: TurnSummaryRow): TurnSummary {
  const { id, no, app, status, error, rig, created_at, ended_at, input_tokens, output_tokens } = row;
  return {
    ...{ id, no, app, status, error, rig, createdAt: created_at, endedAt: ended_at },
    usage: { inputTokens: input_tokens, outputTokens: output_tokens },
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
    partialSince: row.partial_since,
  };
}

/** The size of a record's text, in characters. Pages of records are bounded by it: see `PAGE_CHARS`. */
export function charsOf(values: MessageValues): number {
  const [, , , , , content, toolCalls, toolResults] = values;
  return content.length + (toolCalls?.length ?? 0) + (toolResults?.length ?? 0);
}

/** @throws StoreUnavailableError when the file is damaged */
export function toMessage(values: MessageValues): Message {
  const [turnId, id, turnNo, position, role, content, toolCalls, toolResults, createdAt, origin] = values;
  return {
    id,
    turnId,
    turnNo,
    position,
    role,
    ...(origin !== null && { origin }),
    content,
    toolCalls: toolCalls === null ? null : parseToolCalls(toolCalls),
    toolResults: toolResults === null ? null : parseToolResults(toolResults),
    createdAt,
  };
}

/** @throws StoreUnavailableError when the file is damaged */
export function toEvent(row: EventRow): LoggedEvent {
  const body: EventBody = parseEventBody(row.body);
  return { id: row.id, at: row.at, body };
}

/** @throws StoreUnavailableError when the file is damaged */
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
