import type { Use } from '../model/quota.js';
import type { Lease, ClaimedTurn, Usage } from '../model/turn.js';

/** Identifies one grant of a lease. */
export interface LeaseMark {
  /** The id of the leased turn or call. */
  readonly id: string;
  /** Changes with every claim and every renewal of the lease. Opaque outside the store. */
  readonly mark: string;
}

/** A lease as read from the store. */
export interface LeaseSight extends LeaseMark {
  /**
   * Milliseconds until the lease expires, by the store's wall clock. Wrong by any adjustment of that clock since the
   * grant.
   */
  readonly leftMs: number;
}

/** The usage of one attempt at a turn. */
export interface AttemptUse {
  readonly turnId: string;
  /** The fencing token of the attempt. */
  readonly attempt: number;
  readonly usage: Usage;
  readonly shownTokens: number;
  /** As in `TurnEnding`. */
  readonly uses: readonly Use[];
}

/** Stores which process owns which turn. */
export interface LeaseStore {
  /**
   * Claims a running turn even if its owner is alive; later writes of that owner are refused. Undefined: the turn has
   * ended.
   */
  takeOver(turnId: string, lease: Lease): Promise<ClaimedTurn | undefined>;
  /** Reads the leases of all running turns that have an owner. */
  readLeases(): Promise<LeaseSight[]>;
  /**
   * Claims turns that no process works on: running ones that were released or whose lease is in `lost`, then queued
   * ones of sessions without a running turn. At most one per session, and at most `limit`.
   * @param lost leases that the caller has found lost, see `LeaseWatch`; a lease that was renewed or claimed since is
   * skipped
   */
  claimAbandoned(lease: Lease, lost: readonly LeaseMark[], limit: number): Promise<ClaimedTurn[]>;
  /**
   * Renews the leases of those turns that `lease.owner` still owns.
   * @returns the renewed turns, and whether an interrupt of each was requested; turns that are missing are lost
   */
  renewLeases(
    lease: Lease,
    turnIds: readonly string[],
  ): Promise<{ readonly turnId: string; readonly cancelRequested: boolean }[]>;
  /** Releases these turns without counting a loss, so that any process can claim them immediately. */
  releaseTurns(owner: string, turnIds: readonly string[]): Promise<void>;
  /**
   * Records the usage of attempts that, as far as their process knows, did not end their turns. Adds the tokens to the
   * turns that are still stored. Skips an attempt that did end its turn: its process missed the result.
   */
  countAttempts(attempts: readonly AttemptUse[]): Promise<void>;
}
