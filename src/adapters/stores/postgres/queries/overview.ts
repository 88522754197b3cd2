import type { OpenTurn, OverviewStore } from '../../../../core/ports/overview-store.js';
import type { Measure } from '../../../../core/model/quota.js';
import type { Run, Statement } from '../connections.js';
import { createActivity } from './activity.js';

interface OpenRow {
  readonly id: string;
  readonly session_id: string;
  readonly status: OpenTurn['status'];
  readonly app: string;
  readonly key_id: string | null;
  readonly attempt: number;
  readonly created_at: number;
}

const OPEN_TURNS: Statement = {
  name: 'open_turns',
  text: `SELECT t.id, s.id AS session_id, t.status, t.app, t.key_id, t.attempt, t.created_at
    FROM (SELECT * FROM turns WHERE status = 'running' UNION ALL SELECT * FROM turns WHERE status = 'queued') t
    JOIN sessions s ON s.ref = t.session WHERE s.deleted_at IS NULL ORDER BY t.created_at, t.ref LIMIT $1`,
};
const COUNT_SESSIONS: Statement = {
  name: 'count_sessions',
  text: `SELECT count(*) AS sessions FROM
    (SELECT FROM sessions WHERE deleted_at IS NULL AND active_at >= $1 LIMIT $2) AS active`,
};
const USES: Statement = {
  name: 'read_uses',
  text: `SELECT subject, measure, window_from, amount FROM uses
    WHERE window_from >= $1 AND (subject LIKE 'session:%' OR subject LIKE 'key:%')
    ORDER BY amount DESC, subject, measure LIMIT $2`,
};

/** Reads and history of the operator's overview. */
export function createOverview(run: Run): OverviewStore {
  return {
    async readOpenTurns(limit) {
      const rows = await run<OpenRow>(OPEN_TURNS, [limit]);
      return rows.map(({ id, session_id, status, app, key_id, attempt, created_at }) => ({
        ...{ turnId: id, sessionId: session_id, status, app, attempt },
        keyId: key_id,
        createdAt: created_at,
      }));
    },
    async countSessions(since, limit) {
      const [row] = await run<{ sessions: number }>(COUNT_SESSIONS, [since, limit]);
      return row?.sessions ?? 0;
    },
    ...createActivity(run),
    async readUses(from, limit) {
      const rows = await run<{ subject: string; measure: Measure; window_from: number; amount: number }>(
        USES,
        [from, limit],
      );
      return rows.map(({ window_from, ...use }) => ({ ...use, from: window_from }));
    },
  };
}
