import type { SystemFault } from './event.js';
import type { Lease } from './store.js';

/** Who carries the errors of a session to its client, and which of them were carried. */
export interface FaultStore {
  /**
   * Reserves the faults that no snapshot has carried for `claim.owner`, for so long, and returns them in order; none while another
   * has them. `shown`: up to which number snapshots have carried them. No revision is counted.
   */
  claimFaults(
    id: string,
    claim: Lease,
  ): Promise<{ readonly faults: readonly SystemFault[]; readonly shown: number }>;
  /** Ends what `owner` has claimed of a session's faults: another may claim them at once. */
  releaseFaults(id: string, owner: string): Promise<void>;
  /** Remembers that snapshots have carried the faults up to `n`. */
  markFaultsShown(id: string, n: number): Promise<void>;
}
