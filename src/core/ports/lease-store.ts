import type { Lease, ClaimedTurn } from '../model/turn.js';

/** Identifies one grant of a lease. */
export interface LeaseMark {
  /** What is leased: the id of a turn. */
  readonly id: string;
  /** Every claim and every renewal of the lease makes another one. Opaque outside the store. */
  readonly mark: string;
}

/** A lease as the store has it at one moment. */
export interface LeaseSight extends LeaseMark {
  /**
   * Milliseconds until the lease ends, by the store's wall clock. Wrong by as much as that clock was set since the
   * grant.
   */
  readonly leftMs: number;
}

/** Who works on which turn. */
export interface LeaseStore {
  /**
   * Takes a running turn from its owner, dead or alive, whose later writes are then refused. Undefined when it has
   * ended.
   */
  takeOver(turnId: string, lease: Lease): Promise<ClaimedTurn | undefined>;
  /** The leases on all running turns that have an owner. */
  readLeases(): Promise<LeaseSight[]>;
  /**
   * Claims turns that nobody works on: running ones that were released or whose lease is one of `lost`, then queued
   * ones of sessions where nothing runs. At most one of a session, at most `limit`.
   * @param lost leases that the caller has found lost (`LeaseWatch`); one that was renewed or claimed since is not
   * claimed
   */
  claimAbandoned(lease: Lease, lost: readonly LeaseMark[], limit: number): Promise<ClaimedTurn[]>;
  /**
   * Renews what `lease.owner` still owns of these turns, and says of each whether an interrupt waits. Others are lost.
   */
  renewLeases(
    lease: Lease,
    turnIds: readonly string[],
  ): Promise<{ readonly turnId: string; readonly cancelRequested: boolean }[]>;
  /** Gives these turns up without counting a loss: anybody may claim them at once. */
  releaseTurns(owner: string, turnIds: readonly string[]): Promise<void>;
}
