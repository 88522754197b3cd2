import type { Store } from '../../core/store.js';
import type { Run, Statement } from './connections.js';
import { toClaimedTurn, type TurnRow } from './rows.js';
import { callOf } from './writes.js';

/** A turn that was claimed, with the id of its session. */
interface Claimed {
  readonly session_id: string;
  readonly turn: TurnRow;
}

const TAKE_OVER = callOf('take_over', 3);
const CLAIM_ABANDONED = callOf('claim_abandoned', 3);

/** Those of the turns $1 that $2 works on, locked in one order so that no two callers wait for each other. */
const OWNED = `SELECT t.ref FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE t.id = ANY ($1) AND t.owner = $2 AND t.status = 'running' ORDER BY t.ref FOR UPDATE OF t`;
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

/** The writes that say who works on a turn. They go by the clock of the database: nodes need not agree on the time. */
export function createLeases(
  run: Run,
): Pick<Store, 'takeOver' | 'claimAbandoned' | 'renewLeases' | 'releaseTurns'> {
  return {
    async takeOver(turnId, { owner, milliseconds }) {
      const [row] = await run<{ result: Claimed | null }>(TAKE_OVER, [turnId, owner, milliseconds]);
      const claimed = row?.result ?? null;
      return claimed === null ? undefined : toClaimedTurn(claimed.turn, claimed.session_id, owner);
    },

    async claimAbandoned({ owner, milliseconds }, limit) {
      const rows = await run<{ result: Claimed }>(CLAIM_ABANDONED, [owner, milliseconds, limit]);
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
