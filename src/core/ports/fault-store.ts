import type { SystemFault } from '../model/event.js';
import type { Lease } from '../model/turn.js';

/** What a claim of a session's faults came to. */
export interface ClaimedFaults {
  /** The faults that no snapshot has carried, in order; none while another owner has claimed them. */
  readonly faults: readonly SystemFault[];
  /** Up to which number snapshots have carried them. */
  readonly shown: number;
  /** Identifies the claim of the other owner; null: there is none. Every claim and every renewal makes another one. */
  readonly held: string | null;
}

/** Who carries the errors of a session to its client, and which of them were carried. */
export interface FaultStore {
  /**
   * Claims the faults that no snapshot has carried for `claim.owner`, for so long. No revision is counted.
   * @param lost the `held` of a claim that the caller has found lost: the store does not count it any more, although
   * its end has not come
   */
  claimFaults(id: string, claim: Lease, lost: string | null): Promise<ClaimedFaults>;
  /** Ends what `owner` has claimed of a session's faults: another may claim them at once. */
  releaseFaults(id: string, owner: string): Promise<void>;
  /** Remembers that snapshots have carried the faults up to `n`. */
  markFaultsShown(id: string, n: number): Promise<void>;
}
