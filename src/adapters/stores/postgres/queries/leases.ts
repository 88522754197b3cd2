import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { toClaimedTurn, type TurnRow } from '../rows.js';
import { callOf } from '../functions.js';

/** A claimed turn, with the id of its session. */
interface Claimed {
  readonly session_id: string;
  readonly turn: TurnRow;
}

const TAKE_OVER = callOf('take_over', 3);
const CLAIM_FREE_TURNS = callOf('claim_free_turns', 5);

const READ_LEASES: Statement = {
  name: 'read_leases',
  text: `SELECT id, lease_mark(attempt, lease_until) AS mark,
      (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS left_ms
    FROM turns WHERE status = 'running' AND owner IS NOT NULL`,
};

/**
 * Locks those of the turns $1 that $2 owns, in the order of their sessions, in which groups of steps lock turns too, so
 * that concurrent callers cannot deadlock.
 */
const OWNED = `SELECT t.ref FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE t.id = ANY ($1) AND t.owner = $2 AND t.status = 'running' ORDER BY t.session FOR UPDATE OF t`;
const RENEW: Statement = {
  name: 'renew_leases',
  text: `WITH mine AS MATERIALIZED (${OWNED})
    UPDATE turns t SET lease_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
    FROM mine WHERE t.ref = mine.ref RETURNING t.id, t.cancel_requested`,
};
const RELEASE: Statement = {
  name: 'release_turns',
  text: `WITH mine AS MATERIALIZED (${OWNED})
    UPDATE turns t SET owner = NULL, lease_until = '-infinity' FROM mine WHERE t.ref = mine.ref`,
};

/** Leases on turns. Lease times use the database's clock, so that the nodes' clocks need not agree. */
export function createLeases(
  run: Run,
): Pick<Store, 'takeOver' | 'readLeases' | 'claimAbandoned' | 'renewLeases' | 'releaseTurns'> {
  return {
    async takeOver(turnId, { owner, milliseconds }) {
      const [row] = await run<{ result: Claimed | null }>(TAKE_OVER, [turnId, owner, milliseconds]);
      const claimed = row?.result ?? null;
      return claimed === null ? undefined : toClaimedTurn(claimed.turn, claimed.session_id, owner);
    },

    async readLeases() {
      const rows = await run<{ id: string; mark: string; left_ms: number }>(READ_LEASES, []);
      return rows.map(({ id, mark, left_ms: leftMs }) => ({ id, mark, leftMs }));
    },

    async claimAbandoned({ owner, milliseconds }, lost, limit) {
      const rows = await run<{ result: Claimed }>(CLAIM_FREE_TURNS, [
        ...[owner, milliseconds, limit],
        ...[lost.map(({ id }) => id), lost.map(({ mark }) => mark)],
      ]);
      return rows.map(({ result }) => toClaimedTurn(result.turn, result.session_id, owner));
    },

    async renewLeases({ owner, milliseconds }, turnIds) {
      if (turnIds.length === 0) return [];
      const rows = await run<{ id: string; cancel_requested: boolean }>(RENEW, [
        turnIds,
        owner,
        milliseconds,
      ]);
      return rows.map((row) => ({ turnId: row.id, cancelRequested: row.cancel_requested }));
    },

    async releaseTurns(owner, turnIds) {
      if (turnIds.length > 0) await run(RELEASE, [turnIds, owner]);
    },
  };
}
