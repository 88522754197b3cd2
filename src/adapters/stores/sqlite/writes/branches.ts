import type { Database } from 'better-sqlite3';
import type { Branching } from '../../../../core/ports/stored-thread.js';
import { toSession, type SessionRow } from '../rows/session-row.js';
import { setFields } from '../rows/session-table.js';
import type { Handlers } from '../steps.js';
import type { Tables } from './accept-message.js';
import { createIdempotencyKeys } from './idempotency-keys.js';

/** A random UUID (version 4), for each row of a statement. */
const NEW_ID = `lower(
  hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-'
  || substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`;

/** A position in a thread. The branch has the records before it. */
interface Place {
  readonly turn_no: number;
  readonly position: number;
  /** Whether the turn has not ended. */
  readonly is_open: number;
}

const END: Place = { turn_no: Number.MAX_SAFE_INTEGER, position: 0, is_open: 0 };

/** What a branch holds. */
interface Copied {
  readonly bytes: number;
  readonly shown: number;
  readonly last_turn_no: number;
  readonly interrupted: number;
}

const NO_COPIES: Copied = { bytes: 0, shown: 0, last_turn_no: 0, interrupted: 0 };

/** Creates the `branchSession` step. The rows are copied inside SQLite. */
export function createBranchSession(
  db: Database,
  { sessions, events }: Pick<Tables, 'sessions' | 'events'>,
): Handlers['branchSession'] {
  const keys = createIdempotencyKeys(db);
  const selectPlace = db.prepare<[id: string, session: number], Place>(
    `SELECT m.turn_no, m.position, t.status = 'queued' OR t.status = 'running' AS is_open
     FROM messages m JOIN turns t ON t.session = m.session AND t.no = m.turn_no WHERE m.id = ? AND m.session = ?`,
  );
  // The records of ended turns before a place.
  const records = `messages m CROSS JOIN turns t ON t.session = m.session AND t.no = m.turn_no
     AND t.status <> 'queued' AND t.status <> 'running'
     WHERE m.session = @source AND (m.turn_no, m.position) < (@turn_no, @position)`;
  const selectBytes = db
    .prepare<[{ source: number; turn_no: number; position: number }], number>(
      `SELECT coalesce(sum(
         octet_length(m.content) + coalesce(octet_length(m.tool_calls), 0) + coalesce(octet_length(m.tool_results), 0)), 0)
       FROM ${records}`,
    )
    .pluck();
  const copyTurns = db.prepare<[{ source: number; branch: number; turn_no: number; position: number }]>(
    `INSERT INTO turns (id, session, no, app, status, attempt, losses, lease_until, cancel_requested, rig, input_tokens,
       output_tokens, shown_tokens, created_at, ended_at, error, partial_text)
     SELECT ${NEW_ID}, @branch, no, app, status, 0, 0, 0, 0, rig, input_tokens, output_tokens, shown_tokens, created_at,
       ended_at, error, ''
     FROM turns WHERE session = @source AND (no, 0) < (@turn_no, @position)
       AND status <> 'queued' AND status <> 'running'`,
  );
  const copyMessages = db.prepare<[{ source: number; branch: number; turn_no: number; position: number }]>(
    `INSERT INTO messages (id, session, turn_no, position, role, content, tool_calls, tool_results, created_at, origin)
     SELECT ${NEW_ID}, @branch, m.turn_no, m.position, m.role, m.content, m.tool_calls, m.tool_results, m.created_at,
       m.origin
     FROM ${records}`,
  );
  const selectCopied = db.prepare<[{ branch: number }], Copied>(
    `SELECT coalesce(sum(
         octet_length(content) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(tool_results), 0)), 0) AS bytes,
       coalesce(sum((content <> '' OR role <> 'assistant') + coalesce(json_array_length(tool_results), 0)), 0) AS shown,
       coalesce(max(turn_no), 0) AS last_turn_no,
       coalesce((SELECT status = 'interrupted' FROM turns WHERE session = @branch ORDER BY no DESC LIMIT 1), 0) AS interrupted
     FROM messages WHERE session = @branch`,
  );

  function placeOf(source: SessionRow, before: string | null): Place | undefined {
    return before === null ? END : selectPlace.get(before, source.ref);
  }

  function copy(
    source: SessionRow,
    place: Place,
    { id, set, at }: Branching,
  ): { row: SessionRow; bytes: number } {
    const { row } = sessions.open(id, at);
    setFields(row, set);
    row.version += 1;
    // The foreign keys of the copies require the session's row.
    sessions.save(row);
    const { turn_no, position } = place;
    const range = { source: source.ref, branch: row.ref, turn_no, position };
    copyTurns.run(range);
    copyMessages.run(range);
    const { bytes, shown, last_turn_no, interrupted } = selectCopied.get({ branch: row.ref }) ?? NO_COPIES;
    row.text_bytes = bytes;
    row.shown_messages = shown;
    row.last_turn_no = last_turn_no;
    row.interrupted = interrupted;
    events.commit(row, [], at);
    sessions.save(row);
    return { row, bytes };
  }

  return (asked) => {
    const source = sessions.findLive(asked.sourceId);
    if (source === undefined) return { kind: 'missing' };
    const { idempotency, maxSessionBytes } = asked;
    const used = idempotency === null ? undefined : keys.find(source.ref, idempotency);
    if (used !== undefined) {
      return used === 'other' ? { kind: 'key_reused' } : { kind: 'repeated', sessionId: used.createdId };
    }
    if (source.version !== asked.ifVersion) return { kind: 'stale' };
    const place = placeOf(source, asked.before);
    if (place === undefined) return { kind: 'unknown_message' };
    if (place.is_open === 1) return { kind: 'open_turn' };
    const { turn_no, position } = place;
    const size = selectBytes.get({ source: source.ref, turn_no, position }) ?? 0;
    if (size > maxSessionBytes) return { kind: 'full', bytes: size };
    const { row, bytes } = copy(source, place, asked);
    if (idempotency !== null) keys.put(source.ref, idempotency, row.id, asked.at);
    return { kind: 'branched', session: toSession(row), bytes };
  };
}
