import type { Database } from 'better-sqlite3';
import type { SystemEvent } from '../../../../core/model/event.js';
import { flightOf, type StoredFlight } from '../../../../core/model/flight.js';
import type { Message } from '../../../../core/model/message.js';
import type { SessionHead, Store, ThreadCursor } from '../../../../core/ports/store.js';
import { PAGE_CHARS } from '../../../../core/ports/stored-thread.js';
import { LEASES, RELEASED_TURNS, WAITING_TURNS } from '../writes/leases.js';
import {
  charsOf,
  toEvent,
  toKey,
  toMessage,
  toTurn,
  toTurnSummary,
  type EventRow,
  type KeyRow,
  MESSAGE_COLUMNS,
  TURN_MESSAGES,
  type MessageValues,
  type SystemEventRow,
  type TurnRow,
  type TurnSummaryRow,
} from '../rows/turn-rows.js';
import { toSession, type SessionRow } from '../rows/session-row.js';
import { CALL_LEASES } from '../writes/calls.js';
import { LIMIT } from './limit.js';

/** The read methods of a store that are small enough to run synchronously. */
type ReadName =
  | 'revisionOf'
  | 'heads'
  | 'listThreads'
  | 'listSessions'
  | 'readMessages'
  | 'readTurn'
  | 'readTurns'
  | 'readEvents'
  | 'readSystemEvents'
  | 'readFlight'
  | 'countTurns'
  | 'readLeases'
  | 'readCallLeases'
  | 'findKey'
  | 'listKeys';

/** These methods with synchronous results. */
export type Reads = {
  readonly [K in ReadName]: (...args: Parameters<Store[K]>) => Awaited<ReturnType<Store[K]>>;
} & {
  /** True when a released or queued turn can be claimed. */
  hasUnclaimed(): boolean;
  /** Reads one row, for health checks. @throws when the database cannot be read */
  probe(): void;
};

type Head = Pick<SessionRow, 'ref' | 'revision' | 'last_event_id' | 'deleted_at'>;

/** The cursor of the first page. */
const FIRST: ThreadCursor = { activeAt: Number.MAX_SAFE_INTEGER, id: '' };

/** Creates the small reads, with their statements prepared. */
export function createReads(db: Database): Reads {
  const selectHead = db.prepare<[string], Head>(
    'SELECT ref, revision, last_event_id, deleted_at FROM sessions WHERE id = ?',
  );
  // Reads arrays: the driver creates row objects more slowly.
  const selectThreads = db
    .prepare<
      [string, number, string, number],
      [id: string, title: string, archived: number, createdAt: number, activeAt: number]
    >(
      `SELECT id, title, archived, created_at, active_at FROM sessions
       WHERE deleted_at IS NULL AND wallet = ? AND (active_at, id) < (?, ?)
       ORDER BY active_at DESC, id DESC ${LIMIT}`,
    )
    .raw();
  const selectSessions = db.prepare<[number, string, number], SessionRow>(
    `SELECT * FROM sessions WHERE deleted_at IS NULL AND (active_at, id) < (?, ?)
     ORDER BY active_at DESC, id DESC ${LIMIT}`,
  );
  const selectSessionsOf = db.prepare<[string, number, string, number], SessionRow>(
    `SELECT * FROM sessions WHERE deleted_at IS NULL AND wallet = ? AND (active_at, id) < (?, ?)
     ORDER BY active_at DESC, id DESC ${LIMIT}`,
  );
  const selectPlace = db.prepare<[string, number], { turn_no: number; position: number }>(
    'SELECT turn_no, position FROM messages WHERE id = ? AND session = ?',
  );
  const selectMessages = db
    .prepare<[number, number, number, number], MessageValues>(
      `SELECT t.id, ${MESSAGE_COLUMNS} FROM messages m CROSS JOIN turns t ON t.session = m.session AND t.no = m.turn_no
       WHERE m.session = ? AND (m.turn_no, m.position) < (?, ?) ORDER BY m.turn_no DESC, m.position DESC ${LIMIT}`,
    )
    .raw();
  const selectTurn = db.prepare<[string, string], TurnRow>(
    `SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.ref = t.session WHERE t.id = ? AND s.id = ?`,
  );
  const selectTurns = db.prepare<[session: string, from: number, to: number], TurnSummaryRow>(
    `SELECT t.id, t.no, t.app, t.status, t.error, t.created_at, t.ended_at, t.rig, t.input_tokens, t.output_tokens
     FROM sessions s JOIN turns t ON t.session = s.ref
     WHERE s.id = ? AND s.deleted_at IS NULL AND t.no BETWEEN ? AND ? ORDER BY t.no`,
  );
  const selectTurnMessages = db
    .prepare<[turnId: string, session: number, turnNo: number], MessageValues>(TURN_MESSAGES)
    .raw();
  const selectEvents = db.prepare<[number, number, number], EventRow>(
    `SELECT id, at, body FROM events WHERE session = ? AND id > ? ORDER BY id ${LIMIT}`,
  );
  const selectOldest = db
    .prepare<[number], number>('SELECT id FROM events WHERE session = ? ORDER BY id LIMIT 1')
    .pluck();
  const selectSystemEvents = db.prepare<[number, number], SystemEventRow>(
    `SELECT n, kind, text FROM system_events WHERE session = ? ORDER BY n DESC ${LIMIT}`,
  );
  const selectFlight = db.prepare<[string], StoredFlight>(
    `SELECT t.id AS turnId, t.attempt, t.partial_text AS partialText, t.partial_attempt AS partialAttempt,
       t.partial_since AS since,
       (SELECT max(position) + 1 FROM messages m WHERE m.session = t.session AND m.turn_no = t.no) AS position
     FROM sessions s JOIN turns t ON t.session = s.ref AND t.status = 'running'
     WHERE s.id = ? AND s.deleted_at IS NULL`,
  );
  const selectKey = db.prepare<[string], KeyRow>('SELECT * FROM app_keys WHERE digest = ?');
  const selectKeys = db.prepare<[], KeyRow>('SELECT * FROM app_keys ORDER BY created_at, id');
  // Reads arrays: the leases of all open calls and running turns are read every second.
  const selectCallLeases = db
    .prepare<[], [id: string, mark: string, until: number, toolName: string]>(CALL_LEASES)
    .raw();
  const selectLeases = db.prepare<[], [id: string, mark: string, until: number]>(LEASES).raw();
  const selectReleased = db.prepare<[number], TurnRow>(RELEASED_TURNS);
  const selectWaiting = db.prepare<[number], TurnRow>(WAITING_TURNS);
  // Two subqueries, so that each count uses its partial index.
  const selectCounts = db.prepare<[], { queued: number; running: number }>(
    `SELECT (SELECT count(*) FROM turns WHERE status = 'queued') AS queued,
       (SELECT count(*) FROM turns WHERE status = 'running') AS running`,
  );
  const selectProbe = db.prepare('SELECT at FROM probe');

  function headOf(id: string): SessionHead | 'deleted' | undefined {
    const head = selectHead.get(id);
    if (head === undefined) return undefined;
    return head.deleted_at === null
      ? { revision: head.revision, lastEventId: head.last_event_id }
      : 'deleted';
  }

  const reads: Reads = {
    revisionOf(id) {
      const head = headOf(id);
      if (head === undefined) return 'unknown';
      return head === 'deleted' ? 'deleted' : head.revision;
    },

    // One transaction for all ids: faster than an implicit one per id.
    heads: db.transaction((ids: readonly string[]) => {
      const found = new Map<string, SessionHead | 'deleted'>();
      for (const id of ids) {
        const head = headOf(id);
        if (head !== undefined) found.set(id, head);
      }
      return found;
    }),

    listThreads(wallet, { limit, after }) {
      const { activeAt: before, id: beforeId } = after ?? FIRST;
      const rows = selectThreads.all(wallet, before, beforeId, limit);
      return rows.map(([id, title, archived, createdAt, activeAt]) => ({
        id,
        title,
        archived: archived === 1,
        createdAt,
        activeAt,
      }));
    },

    listSessions({ limit, after, wallet }) {
      const { activeAt, id } = after ?? FIRST;
      const rows =
        wallet === undefined
          ? selectSessions.all(activeAt, id, limit)
          : selectSessionsOf.all(wallet, activeAt, id, limit);
      return rows.map(toSession);
    },

    readMessages(id, { limit, before }) {
      const ref = selectHead.get(id)?.ref ?? -1;
      const end =
        before === null ? { turn_no: Number.MAX_SAFE_INTEGER, position: 0 } : selectPlace.get(before, ref);
      if (end === undefined) return 'unknown_message';
      const messages: Message[] = [];
      let chars = 0;
      for (const values of selectMessages.iterate(ref, end.turn_no, end.position, limit + 1)) {
        if (messages.length === limit || chars >= PAGE_CHARS)
          return { messages: messages.reverse(), hasMore: true };
        messages.push(toMessage(values));
        chars += charsOf(values);
      }
      return { messages: messages.reverse(), hasMore: false };
    },

    readTurn(sessionId, turnId) {
      const row = selectTurn.get(turnId, sessionId);
      if (row === undefined) return undefined;
      const messages = selectTurnMessages.all(turnId, row.session, row.no).map(toMessage);
      return { turn: toTurn(row), messages };
    },

    readTurns: (id, { from, to }) => selectTurns.all(id, from, to).map(toTurnSummary),

    readEvents(id, after, limit) {
      const head = selectHead.get(id);
      const lastId = head?.last_event_id ?? 0;
      if (head === undefined) return { events: [], oldestId: lastId + 1, lastId };
      const events = selectEvents.all(head.ref, after, limit).map(toEvent);
      return { events, oldestId: selectOldest.get(head.ref) ?? lastId + 1, lastId };
    },

    readSystemEvents(id, count) {
      const rows = selectSystemEvents.all(selectHead.get(id)?.ref ?? -1, count);
      return rows.reverse().map(({ kind, text }): SystemEvent => ({ kind, text }));
    },

    readFlight(sessionId) {
      const row = selectFlight.get(sessionId);
      return row && flightOf(row);
    },
    findKey(digest) {
      const row = selectKey.get(digest);
      return row === undefined ? undefined : toKey(row);
    },

    listKeys: () => selectKeys.all().map(toKey),

    countTurns: () => selectCounts.get() ?? { queued: 0, running: 0 },

    readCallLeases() {
      const now = Date.now();
      return selectCallLeases
        .all()
        .map(([id, mark, until, toolName]) => ({ id, mark, leftMs: until - now, toolName }));
    },

    readLeases() {
      const now = Date.now();
      return selectLeases.all().map(([id, mark, until]) => ({ id, mark, leftMs: until - now }));
    },

    hasUnclaimed: () => selectReleased.get(1) !== undefined || selectWaiting.get(1) !== undefined,

    probe() {
      selectProbe.get();
    },
  };

  // The statements of one read must see the same snapshot.
  return {
    ...reads,
    heads: db.transaction(reads.heads),
    readMessages: db.transaction(reads.readMessages),
    readTurn: db.transaction(reads.readTurn),
    readEvents: db.transaction(reads.readEvents),
    readSystemEvents: db.transaction(reads.readSystemEvents),
  };
}
