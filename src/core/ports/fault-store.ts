import type { SystemFault } from '../model/event.js';
import type { Lease } from '../model/turn.js';

/** The result of claiming a session's faults. */
export interface ClaimedFaults {
  /** The faults that no snapshot has delivered, in order; empty while another owner has claimed them. */
  readonly faults: readonly SystemFault[];
  /** The number of the last fault that a snapshot has delivered. */
  readonly shown: number;
  /** Identifies the claim of another owner; null: none. Changes with every claim and every renewal. */
  readonly held: string | null;
}

/** Coordinates which owner delivers the faults of a session to its client, so that each is delivered once. */
export interface FaultStore {
  /**
   * Claims the undelivered faults for `claim.owner`. Does not change the session's revision.
   * @param lost the `held` of a claim that the caller has found lost: the store ignores that claim even if it has not
   * expired
   */
  claimFaults(id: string, claim: Lease, lost: string | null): Promise<ClaimedFaults>;
  /** Releases the claim of `owner` on a session's faults, so that another owner can claim them immediately. */
  releaseFaults(id: string, owner: string): Promise<void>;
  /** Records that snapshots have delivered the faults up to number `n`. */
  markFaultsShown(id: string, n: number): Promise<void>;
}
