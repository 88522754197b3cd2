import type { LoggedEvent, SystemEvent } from '../../../../core/model/event.js';
import type { ThreadSummary } from '../../../../core/model/session.js';
import type { SessionHead, Store, ThreadCursor } from '../../../../core/ports/store.js';
import { PAGE_CHARS } from '../../../../core/ports/stored-thread.js';
import type { Run, Statement } from '../connections.js';
import { RowReads } from '../row-reads.js';
import {
  MESSAGE_COLUMNS,
  SESSION_COLUMNS,
  toMessage,
  toSession,
  type Maybe,
  type MessageRow,
  type SessionRow,
  type SystemEventRow,
} from '../rows.js';

type Head = Pick<SessionRow, 'id' | 'revision' | 'last_event_id' | 'deleted_at'>;
/** A record of a page, with the number of records that it was chosen from. */
type PageRow = MessageRow & { readonly found: number };
/** The cursor of the first page. */
const FIRST: ThreadCursor = { activeAt: Number.MAX_SAFE_INTEGER, id: '' };

const LIVE = '(SELECT ref FROM sessions WHERE id = $1 AND deleted_at IS NULL)';

/** Finds the session of each row of `q` by its index, where the planner would read a small table as a whole. */
const SESSION_OF_Q = `CROSS JOIN LATERAL (
  SELECT l.id, l.revision, l.last_event_id, l.deleted_at FROM sessions l WHERE l.id = q.id OFFSET 0) AS s`;
const HEADS: Statement = {
  name: 'heads',
  text: `SELECT s.* FROM unnest($1::text[]) AS q (id) ${SESSION_OF_Q}`,
};
const LIST_THREADS: Statement = {
  name: 'list_threads',
  text: `SELECT id, title, archived, created_at AS "createdAt", active_at AS "activeAt" FROM sessions
    WHERE deleted_at IS NULL AND wallet = $1 AND (active_at, id) < ($2, $3)
    ORDER BY active_at DESC, id DESC LIMIT $4`,
};
const LIST_SESSIONS: Statement = {
  name: 'list_sessions',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE deleted_at IS NULL AND (active_at, id) < ($1, $2)
    ORDER BY active_at DESC, id DESC LIMIT $3`,
};
const LIST_SESSIONS_OF: Statement = {
  name: 'list_sessions_of',
  text: `SELECT ${SESSION_COLUMNS} FROM sessions WHERE deleted_at IS NULL AND wallet = $1 AND (active_at, id) < ($2, $3)
    ORDER BY active_at DESC, id DESC LIMIT $4`,
};
/**
 * The last $2 records `m` of a condition, newest first, or fewer when these have more than `PAGE_CHARS`. `found`: how many
 * there are, up to $2.
 */
const pageWhere = (condition: string): string => `
  SELECT ${MESSAGE_COLUMNS}, m.found FROM (
    SELECT r.*, count(*) OVER () AS found,
      sum(length(r.content) + coalesce(length(r.tool_calls::text), 0) + coalesce(length(r.tool_results::text), 0))
        OVER (ORDER BY r.turn_no DESC, r.position DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer_chars
    FROM (SELECT ${MESSAGE_COLUMNS} FROM messages m WHERE ${condition}
      ORDER BY m.turn_no DESC, m.position DESC LIMIT $2) r
  ) m WHERE coalesce(m.newer_chars, 0) < ${String(PAGE_CHARS)} ORDER BY m.turn_no DESC, m.position DESC`;
const NEWEST_MESSAGES: Statement = {
  name: 'newest_messages',
  text: pageWhere(`m.session = ${LIVE}`),
};
// Returns no row when the message $3 does not exist, and a single row of nulls when no message precedes it.
const MESSAGES_BEFORE: Statement = {
  name: 'messages_before',
  text: `SELECT page.* FROM messages place LEFT JOIN LATERAL (
      ${pageWhere('m.session = place.session AND (m.turn_no, m.position) < (place.turn_no, place.position)')}
    ) page ON true WHERE place.id = $3 AND place.session = ${LIVE}
    ORDER BY page.turn_no DESC, page.position DESC`,
};
const EVENTS: Statement = {
  name: 'events',
  text: `SELECT s.last_event_id,
      (SELECT e.id FROM events e WHERE e.session = s.ref ORDER BY e.id LIMIT 1) AS oldest_id, page.*
    FROM sessions s LEFT JOIN LATERAL (
      SELECT e.id, e.at, e.body FROM events e WHERE e.session = s.ref AND e.id > $2 ORDER BY e.id LIMIT $3
    ) page ON true WHERE s.id = $1 ORDER BY page.id`,
};
const SYSTEM_EVENTS: Statement = {
  name: 'system_events',
  text: `SELECT n, kind, text FROM system_events WHERE session = ${LIVE} ORDER BY n DESC LIMIT $2`,
};
// Two subqueries, so that each count uses its partial index.
const COUNT_TURNS: Statement = {
  name: 'count_turns',
  text: `SELECT (SELECT count(*) FROM turns WHERE status = 'queued') AS queued,
    (SELECT count(*) FROM turns WHERE status = 'running') AS running`,
};

type ReadName =
  | 'revisionOf'
  | 'heads'
  | 'listThreads'
  | 'listSessions'
  | 'readMessages'
  | 'countTurns'
  | 'readEvents'
  | 'readSystemEvents';

/** How checks of revisions share statements. */
const SHARED = { most: 500, atOnce: 1 } as const;

/** Small reads. Each is a single statement, and so reads a consistent snapshot. */
export function createReads(run: Run): Pick<Store, ReadName> {
  async function heads(ids: readonly string[]): Promise<Map<string, SessionHead | 'deleted'>> {
    const rows = await run<Head>(HEADS, [ids]);
    return new Map(
      rows.map(({ id, revision, last_event_id, deleted_at }) => [
        id,
        deleted_at === null ? { revision, lastEventId: last_event_id } : 'deleted',
      ]),
    );
  }

  const shared = new RowReads(heads, SHARED);

  return {
    heads,

    async revisionOf(id) {
      const head = await shared.of(id, id);
      if (head === undefined) return 'unknown';
      return head === 'deleted' ? head : head.revision;
    },

    listThreads(wallet, { limit, after }) {
      const { activeAt, id } = after ?? FIRST;
      return run<ThreadSummary>(LIST_THREADS, [wallet, activeAt, id, limit]);
    },

    async listSessions({ limit, after, wallet }) {
      const { activeAt, id } = after ?? FIRST;
      const rows =
        wallet === undefined
          ? run<SessionRow>(LIST_SESSIONS, [activeAt, id, limit])
          : run<SessionRow>(LIST_SESSIONS_OF, [wallet, activeAt, id, limit]);
      return (await rows).map(toSession);
    },

    async readMessages(id, { limit, before }) {
      const rows =
        before === null
          ? await run<PageRow>(NEWEST_MESSAGES, [id, limit + 1])
          : await run<Maybe<PageRow>>(MESSAGES_BEFORE, [id, limit + 1, before]);
      if (before !== null && rows.length === 0) return 'unknown_message';
      const page = rows.filter((row): row is PageRow => row.id !== null).slice(0, limit);
      return { messages: page.reverse().map(toMessage), hasMore: (rows[0]?.found ?? 0) > page.length };
    },

    async countTurns() {
      const [counts] = await run<{ queued: number; running: number }>(COUNT_TURNS, []);
      return counts ?? { queued: 0, running: 0 };
    },

    async readEvents(id, after, limit) {
      type Page = { readonly last_event_id: number; readonly oldest_id: number | null } & Maybe<LoggedEvent>;
      const rows = await run<Page>(EVENTS, [id, after, limit]);
      const lastId = rows[0]?.last_event_id ?? 0;
      const events = rows.flatMap((row) =>
        row.id === null ? [] : [{ id: row.id, at: row.at, body: row.body }],
      );
      return { events, oldestId: rows[0]?.oldest_id ?? lastId + 1, lastId };
    },

    async readSystemEvents(id, count) {
      const rows = await run<SystemEventRow>(SYSTEM_EVENTS, [id, count]);
      return rows.reverse().map(({ kind, text }): SystemEvent => ({ kind, text }));
    },
  };
}
