import type { Database } from 'better-sqlite3';
import type { OpenTurn } from '../../../../core/ports/overview-store.js';
import type { Measure, Use } from '../../../../core/model/quota.js';
import { LIMIT } from './limit.js';

/** Reads for the operator's overview. */
export function createOverviewReads(db: Database) {
  const selectOpen = db.prepare<[number], OpenTurn>(
    `SELECT t.id AS turnId, s.id AS sessionId, t.status, t.app, t.key_id AS keyId, t.attempt, t.created_at AS createdAt
     FROM (SELECT * FROM turns WHERE status = 'running' UNION ALL SELECT * FROM turns WHERE status = 'queued') t
     JOIN sessions s ON s.ref = t.session ORDER BY t.created_at, t.ref ${LIMIT}`,
  );
  const countSessions = db
    .prepare<[number, number], number>(
      `SELECT count(*) FROM
         (SELECT 1 FROM sessions WHERE deleted_at IS NULL AND active_at >= ? ${LIMIT})`,
    )
    .pluck();
  const selectUses = db.prepare<
    [number, number],
    { subject: string; measure: Measure; at: number; amount: number }
  >(
    `SELECT subject, measure, window_from AS at, amount FROM uses
     WHERE window_from >= ? AND (subject LIKE 'session:%' OR subject LIKE 'key:%')
     ORDER BY amount DESC, subject, measure ${LIMIT}`,
  );
  return {
    readOpenTurns: (limit: number): OpenTurn[] => selectOpen.all(limit),
    countSessions: (since: number, limit: number): number => countSessions.get(since, limit) ?? 0,
    readUses: (from: number, limit: number): Use[] =>
      selectUses.all(from, limit).map(({ at, ...use }) => ({ ...use, from: at })),
  };
}
