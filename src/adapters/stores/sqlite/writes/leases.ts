import type { Database } from 'better-sqlite3';
import type { TurnRow } from '../rows/turn-rows.js';
import type { Handlers } from '../steps.js';
import type { TurnTable } from '../rows/turn-table.js';
import { LIMIT } from '../reads/limit.js';

/** Identifies one grant of a lease. A claim changes it by raising `attempt`, a renewal by moving `lease_until`. */
const LEASE_MARK = "t.attempt || ':' || t.lease_until";

/** Selects the leases on running turns that have an owner. */
export const LEASES = `SELECT t.id, ${LEASE_MARK}, t.lease_until FROM turns t INDEXED BY running_turn
  WHERE t.status = 'running' AND t.owner IS NOT NULL`;

/** Selects running turns that their owners have released. */
export const RELEASED_TURNS = `SELECT t.*, s.id AS session_id FROM turns t INDEXED BY running_turn JOIN sessions s ON s.ref = t.session
  WHERE t.status = 'running' AND t.owner IS NULL ${LIMIT}`;

/** Selects a running turn if its lease still has the given mark. */
const LOST_TURN = `SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE t.id = ? AND t.status = 'running' AND t.owner IS NOT NULL AND ${LEASE_MARK} = ?`;

/** Selects the first queued turn of each session that has no running turn. */
export const WAITING_TURNS = `SELECT t.*, s.id AS session_id FROM turns t INDEXED BY queued_turns JOIN sessions s ON s.ref = t.session
  WHERE t.status = 'queued'
    AND NOT EXISTS (SELECT 1 FROM turns r WHERE r.session = t.session AND r.status = 'running')
    AND NOT EXISTS (SELECT 1 FROM turns q WHERE q.session = t.session AND q.status = 'queued' AND q.no < t.no)
  ${LIMIT}`;

/** The write steps for leases on turns. */
export function createLeaseWrites(
  db: Database,
  turns: TurnTable,
): Pick<Handlers, 'takeOver' | 'claimAbandoned' | 'renewLeases' | 'releaseTurns'> {
  const selectLost = db.prepare<[id: string, mark: string], TurnRow>(LOST_TURN);
  const selectReleased = db.prepare<[limit: number], TurnRow>(RELEASED_TURNS);
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

    claimAbandoned(lease, lost, limit) {
      const rows = lost.slice(0, limit).flatMap(({ id, mark }) => selectLost.get(id, mark) ?? []);
      if (rows.length < limit) rows.push(...selectReleased.all(limit - rows.length));
      if (rows.length < limit) rows.push(...selectWaiting.all(limit - rows.length));
      return rows.map((row) => turns.claim(row, lease, row.owner === null ? 0 : 1));
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
