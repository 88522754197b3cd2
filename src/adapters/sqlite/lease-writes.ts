import type { Database } from 'better-sqlite3';
import type { TurnRow } from './rows.js';
import type { Handlers } from './steps.js';
import type { TurnTable } from './turn-table.js';
import { LIMIT } from './limit.js';

/** Running turns whose lease is lost at a time: given up, or not renewed. */
export const LOST_TURNS = `SELECT t.*, s.id AS session_id FROM turns t INDEXED BY running_turn JOIN sessions s ON s.ref = t.session
  WHERE t.status = 'running' AND t.lease_until <= ? ${LIMIT}`;

/** Heads of the queues of sessions where nothing runs. */
export const WAITING_TURNS = `SELECT t.*, s.id AS session_id FROM turns t INDEXED BY queued_turns JOIN sessions s ON s.ref = t.session
  WHERE t.status = 'queued'
    AND NOT EXISTS (SELECT 1 FROM turns r WHERE r.session = t.session AND r.status = 'running')
    AND NOT EXISTS (SELECT 1 FROM turns q WHERE q.session = t.session AND q.status = 'queued' AND q.no < t.no)
  ${LIMIT}`;

/** The steps that say who works on a turn. */
export function createLeaseWrites(
  db: Database,
  turns: TurnTable,
): Pick<Handlers, 'takeOver' | 'claimAbandoned' | 'renewLeases' | 'releaseTurns'> {
  const selectLost = db.prepare<[now: number, limit: number], TurnRow>(LOST_TURNS);
  const selectWaiting = db.prepare<[limit: number], TurnRow>(WAITING_TURNS);
  const renew = db
    .prepare<[leaseUntil: number, id: string, owner: string], number>(
      `UPDATE turns SET lease_until = ? WHERE id = ? AND owner = ? AND status = 'running' RETURNING cancel_requested`,
    )
    .pluck();
  const release = db.prepare<[id: string, owner: string]>(
    `UPDATE turns SET owner = NULL, lease_until = 0 WHERE id = ? AND owner = ? AND status = 'running'`,
  );

  return {
    takeOver(turnId, lease) {
      const row = turns.find(turnId);
      return row?.status === 'running' ? turns.claim(row, lease, 0) : undefined;
    },

    claimAbandoned(lease, limit) {
      const lost = selectLost.all(Date.now(), limit);
      const waiting = lost.length < limit ? selectWaiting.all(limit - lost.length) : [];
      return [...lost, ...waiting].map((row) => turns.claim(row, lease, row.owner === null ? 0 : 1));
    },

    renewLeases(lease, turnIds) {
      const until = Date.now() + lease.milliseconds;
      return turnIds.flatMap((turnId) => {
        const cancelRequested = renew.get(until, turnId, lease.owner);
        return cancelRequested === undefined ? [] : [{ turnId, cancelRequested: cancelRequested === 1 }];
      });
    },

    releaseTurns(owner, turnIds) {
      for (const id of turnIds) release.run(id, owner);
      return undefined;
    },
  };
}
