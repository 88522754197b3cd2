import type { ClaimedFaults } from '../../../../core/ports/fault-store.js';
import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { callOf, resultOf } from '../functions.js';

const CLAIM = callOf('claim_system_faults', 4);
const RELEASE: Statement = {
  name: 'release_faults',
  text: `UPDATE sessions SET faults_claimed_by = NULL, faults_claimed_until = NULL
    WHERE id = $1 AND deleted_at IS NULL AND faults_claimed_by = $2`,
};
const MARK_SHOWN: Statement = {
  name: 'mark_faults_shown',
  text: 'UPDATE sessions SET faults_shown = $2 WHERE id = $1 AND deleted_at IS NULL AND faults_shown < $2',
};

/** Tracks which faults of a session have been delivered in a snapshot. */
export function createFaults(run: Run): Pick<Store, 'claimFaults' | 'releaseFaults' | 'markFaultsShown'> {
  return {
    async claimFaults(id, { owner, milliseconds }, lost) {
      return resultOf<ClaimedFaults>(run, CLAIM, [id, owner, milliseconds, lost]);
    },

    async releaseFaults(id, owner) {
      await run(RELEASE, [id, owner]);
    },

    async markFaultsShown(id, n) {
      await run(MARK_SHOWN, [id, n]);
    },
  };
}
