import type { SystemFault } from '../../../../core/model/event.js';
import { flightOf, type StoredFlight } from '../../../../core/model/flight.js';
import { failuresIn, shownIn, type Message } from '../../../../core/model/message.js';
import type { Store } from '../../../../core/ports/store.js';
import type { StoredThread, ThreadPart } from '../../../../core/ports/stored-thread.js';
import type { Run, Statement } from '../connections.js';
import { RowReads } from '../row-reads.js';
import {
  MESSAGE_COLUMNS,
  SESSION_COLUMNS,
  toMessage,
  toSession,
  toTurn,
  type Maybe,
  type MessageRow,
  type SessionRow,
  type TurnRow,
} from '../rows.js';

interface OpenTurn {
  readonly turn: TurnRow;
  readonly messages: readonly MessageRow[];
}

type Tail = SessionRow & {
  readonly shown_messages: number;
  readonly failures: number;
  readonly open: readonly TurnRow[];
  readonly faults: readonly SystemFault[];
  readonly messages: readonly MessageRow[];
};

type Head = SessionRow & {
  readonly shown_messages: number;
  readonly failures: number;
  readonly continues: boolean;
  readonly open: readonly OpenTurn[];
  readonly faults: readonly SystemFault[];
  /** The messages of ended turns; null: of a thread that does not continue a part, and may be too large to read here. */
  readonly settled: readonly MessageRow[] | null;
};

/** What to read of a thread, as parameters of `HEAD`. */
interface HeadQuery {
  readonly id: string;
  readonly afterId: string | null;
  readonly afterTurn: number;
  readonly newest: number | null;
}

/** The size of a thread's text, in bytes, above which a statement of its own reads its settled messages. */
const MAX_BYTES = 262_144;
/** How loads of threads share statements. */
const SHARED_LOADS = { most: 16, atOnce: 4 } as const;
/** How reads of text in flight share statements. */
const SHARED_FLIGHTS = { most: 500, atOnce: 1 } as const;

/** The records of the turn `t`, as JSON. */
const RECORDS = `(SELECT coalesce(json_agg(r ORDER BY r.position), '[]') FROM (
  SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE m.session = (t).session AND m.turn_no = (t).no) r)`;

/**
 * The open turns of the session `s`, each as the row `t`: of two queries, because a condition on both statuses would
 * use neither of the two partial indexes, and read all turns of the session.
 */
const OPEN = `(SELECT r AS t FROM turns r WHERE r.session = s.ref AND r.status = 'running'
  UNION ALL SELECT q FROM turns q WHERE q.session = s.ref AND q.status = 'queued') AS open`;
const OPEN_ORDER = `(t).status = 'running' DESC, (t).no`;

const FAULTS = `(SELECT coalesce(json_agg(json_build_object('n', e.n, 'kind', e.kind, 'text', e.text) ORDER BY e.n), '[]')
  FROM system_events e WHERE e.session = s.ref AND e.n > s.faults_shown AND e.kind <> 'SystemNotice')`;

/** The number of records that state why their turn failed, as `isFailure` finds them. */
const FAILURES = `(SELECT count(*) FROM messages m
  WHERE m.session = s.ref AND m.role = 'system' AND m.origin IS NULL AND m.position > 0)`;

const HEAD: Statement = {
  name: 'thread_head',
  text: `SELECT ${SESSION_COLUMNS}, s.shown_messages, ${FAILURES} AS failures, c.continues, q.n,
      (SELECT coalesce(
          json_agg(json_build_object('turn', turn_json(t), 'messages', ${RECORDS}) ORDER BY ${OPEN_ORDER}), '[]')
        FROM ${OPEN}) AS open,
      ${FAULTS} AS faults,
      CASE WHEN s.text_bytes > ${String(MAX_BYTES)} AND NOT c.continues THEN NULL ELSE
        (SELECT coalesce(json_agg(r ORDER BY r.turn_no, r.position), '[]') FROM (
          SELECT ${MESSAGE_COLUMNS} FROM messages m
          WHERE m.session = s.ref AND m.turn_no > CASE WHEN c.continues THEN q.after_turn ELSE 0 END
            AND m.turn_no <> ALL (ARRAY(SELECT (t).no FROM ${OPEN}))
          ORDER BY m.turn_no DESC, m.position DESC LIMIT q.newest) r)
      END AS settled
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::integer[])
      WITH ORDINALITY AS q (session_id, after_id, after_turn, newest, n)
    CROSS JOIN LATERAL (SELECT * FROM sessions l WHERE l.id = q.session_id OFFSET 0) AS s
    CROSS JOIN LATERAL (
      SELECT coalesce((SELECT m.session FROM messages m WHERE m.id = q.after_id) = s.ref, false) AS continues) AS c`,
};
/** Reads the last messages that contribute to a snapshot: empty assistant messages without tool results do not. */
const TAIL: Statement = {
  name: 'thread_tail',
  text: `SELECT ${SESSION_COLUMNS}, s.shown_messages, ${FAILURES} AS failures,
      (SELECT coalesce(json_agg(turn_json(t) ORDER BY ${OPEN_ORDER}), '[]') FROM ${OPEN}) AS open,
      ${FAULTS} AS faults,
      (SELECT coalesce(json_agg(r ORDER BY r.turn_no, r.position), '[]') FROM (
        SELECT ${MESSAGE_COLUMNS} FROM messages m
        WHERE m.session = s.ref AND (m.role <> 'assistant' OR m.content <> '' OR json_array_length(m.tool_results) > 0)
        ORDER BY m.turn_no DESC, m.position DESC LIMIT $2) r) AS messages
    FROM sessions s WHERE s.id = $1`,
};
/** Newest first. No row: the session was deleted; a row of nulls: it has no such message. */
const SETTLED: Statement = {
  name: 'settled_messages',
  text: `SELECT page.* FROM sessions s LEFT JOIN LATERAL (
      SELECT ${MESSAGE_COLUMNS} FROM messages m
      WHERE m.session = s.ref AND m.turn_no <= $2 AND m.turn_no <> ALL ($3::bigint[])
      ORDER BY m.turn_no DESC, m.position DESC LIMIT $4
    ) page ON true WHERE s.ref = $1`,
};
const TURN: Statement = {
  name: 'read_turn',
  text: `SELECT turn_json(t) AS turn, ${RECORDS} AS messages FROM turns t JOIN sessions s ON s.ref = t.session
    WHERE t.id = $2 AND s.id = $1`,
};
const FLIGHT: Statement = {
  name: 'read_flight',
  text: `SELECT s.id, t.id AS "turnId", t.attempt, t.partial_text AS "partialText", t.partial_attempt AS "partialAttempt",
      t.partial_since AS since,
      (SELECT max(m.position) + 1 FROM messages m WHERE m.session = t.session AND m.turn_no = t.no) AS position
    FROM unnest($1::text[]) AS q (id)
    CROSS JOIN LATERAL (SELECT l.id, l.ref FROM sessions l WHERE l.id = q.id OFFSET 0) AS s
    CROSS JOIN LATERAL (SELECT * FROM turns r WHERE r.session = s.ref AND r.status = 'running' OFFSET 0) AS t`,
};

/** Reads whole threads and turns. */
export function createThreadReads(
  run: Run,
): Pick<Store, 'loadThread' | 'loadTail' | 'readTurn' | 'readFlight'> {
  const heads = new RowReads<Head, HeadQuery>(async (queries) => {
    const rows = await run<Head & { readonly n: number }>(HEAD, [
      queries.map(({ id }) => id),
      queries.map(({ afterId }) => afterId),
      queries.map(({ afterTurn }) => String(afterTurn)),
      queries.map(({ newest }) => (newest === null ? null : String(newest))),
    ]);
    return new Map(
      rows.flatMap((row) => {
        const query = queries[row.n - 1];
        return query === undefined ? [] : [[keyOf(query), row]];
      }),
    );
  }, SHARED_LOADS);
  const flights = new RowReads<StoredFlight & { readonly id: string }>(async (ids) => {
    const rows = await run<StoredFlight & { readonly id: string }>(FLIGHT, [ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }, SHARED_FLIGHTS);

  /**
   * Reads the messages of turns that had ended when the head was read. They never change, so a separate statement is
   * safe. Undefined: the session was deleted after the head was read.
   */
  async function readSettled(
    { ref, last_turn_no, open, settled }: Head,
    limit: number | null,
  ): Promise<Message[] | undefined> {
    if (settled !== null) return settled.map(toMessage);
    if (open.length === last_turn_no) return [];
    const openNos = open.map(({ turn }) => String(turn.no));
    const rows = await run<Maybe<MessageRow>>(SETTLED, [ref, last_turn_no, openNos, limit]);
    if (rows.length === 0) return undefined;
    return rows
      .filter((row): row is MessageRow => row.id !== null)
      .reverse()
      .map(toMessage);
  }

  async function loadThread(id: string, part?: ThreadPart): Promise<StoredThread | 'deleted' | 'unknown'> {
    const after = part !== undefined && 'after' in part ? part.after : null;
    const newest = part !== undefined && 'newest' in part ? part.newest : null;
    const query: HeadQuery = { id, afterId: after?.id ?? null, afterTurn: after?.turnNo ?? 0, newest };
    const head = await heads.of(keyOf(query), query);
    if (head === undefined) return 'unknown';
    if (head.deleted_at !== null) return 'deleted';
    const settled = await readSettled(head, newest);
    if (settled === undefined) return loadThread(id, part);
    const open = head.open.map(({ turn, messages }) => ({
      turn: toTurn(turn, id),
      messages: messages.map(toMessage),
      partialText: turn.partial_text,
      partialSince: turn.partial_since,
    }));
    const read = [...settled, ...open.flatMap(({ messages }) => messages)];
    const isWhole = newest === null && !head.continues;
    return {
      session: toSession(head),
      settled,
      skipped: isWhole ? 0 : head.shown_messages - shownIn(read),
      skippedFailures: isWhole ? 0 : head.failures - failuresIn(read),
      continues: head.continues,
      open,
      faults: head.faults,
    };
  }

  return {
    loadThread,

    async loadTail(id, count) {
      const [tail] = await run<Tail>(TAIL, [id, count]);
      if (tail === undefined) return 'unknown';
      if (tail.deleted_at !== null) return 'deleted';
      return {
        session: toSession(tail),
        messages: tail.messages.map(toMessage),
        shown: tail.shown_messages,
        failures: tail.failures,
        open: tail.open.map((turn) => ({
          turn: toTurn(turn, id),
          partialText: turn.partial_text,
          partialSince: turn.partial_since,
        })),
        faults: tail.faults,
      };
    },

    async readTurn(sessionId, turnId) {
      const [row] = await run<OpenTurn>(TURN, [sessionId, turnId]);
      if (row === undefined) return undefined;
      return { turn: toTurn(row.turn, sessionId), messages: row.messages.map(toMessage) };
    },

    async readFlight(sessionId) {
      const row = await flights.of(sessionId, sessionId);
      if (row === undefined) return undefined;
      const { id: _session, ...flight } = row;
      return flightOf(flight);
    },
  };
}

function keyOf({ id, afterId, afterTurn, newest }: HeadQuery): string {
  return [id, afterId, afterTurn, newest].join(' ');
}
