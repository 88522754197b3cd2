import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { FaultDelivery } from '../model/snapshot.js';
import type { Lease } from '../model/turn.js';
import type { Store } from '../ports/store.js';
import type { CachedSession } from './cached-session.js';

/** The deliveries of one session that are in progress. */
interface UnderWay {
  /** The numbers of system errors that are, or were, part of a response. */
  readonly taken: Set<number>;
  /** How many callers are claiming system errors or have some in a response. */
  users: number;
  readonly stopRenewal: () => void;
  /** Set after the last user has left: settles when the claim is released. */
  ending: Promise<void> | undefined;
}

/**
 * Delivers each system event that snapshots carry once (a system error, or a call to the client) in exactly one
 * snapshot, across all nodes. A node claims a session's system errors in the
 * store and marks them as shown once they were sent. A claim that expires frees what was not sent for other nodes. A
 * claim also counts as lost when this node has seen it without renewal for the length of a lease, whatever its stored
 * expiry says.
 */
export class SystemErrorDelivery {
  readonly #underWay = new Map<string, UnderWay>();

  constructor(
    private readonly parts: { readonly store: Store; readonly log: Log; readonly clock: Clock },
    /** The owner and the duration of this node's claims. */
    private readonly lease: Lease,
    private readonly renewMs: number,
  ) {}

  /**
   * Claims the system errors for one response, excluding those in other responses. Queries the store only when the
   * cached session has some.
   */
  async claim(thread: CachedSession): Promise<FaultDelivery> {
    let found = this.#underWay.get(thread.id);
    for (; found?.ending !== undefined; found = this.#underWay.get(thread.id)) await found.ending;
    if (thread.faults.every(({ n }) => found?.taken.has(n))) return NO_FAULTS;
    const underWay = found ?? this.#begin(thread.id);
    underWay.users++;
    let claimed;
    try {
      claimed = await this.parts.store.claimFaults(thread.id, this.lease, this.#lostClaimOn(thread));
    } catch (error) {
      this.#leave(thread.id, underWay);
      throw error;
    }
    this.#noteHeld(thread, claimed.held);
    thread.faults = thread.faults.filter(({ n }) => n > claimed.shown);
    const mine = claimed.faults.filter(({ n }) => !underWay.taken.has(n) && !thread.delivered.has(n));
    if (mine.length === 0) {
      this.#leave(thread.id, underWay);
      return NO_FAULTS;
    }
    for (const { n } of mine) underWay.taken.add(n);
    return {
      events: mine,
      confirm: () => {
        void this.#remember(
          thread,
          mine.map(({ n }) => n),
        ).finally(() => {
          this.#leave(thread.id, underWay);
        });
      },
      release: () => {
        for (const { n } of mine) underWay.taken.delete(n);
        this.#leave(thread.id, underWay);
      },
    };
  }

  #noteHeld(thread: CachedSession, claim: string | null): void {
    if (claim === null) thread.faultsHeld = undefined;
    else if (thread.faultsHeld?.claim !== claim)
      thread.faultsHeld = { claim, since: this.parts.clock.monotonic() };
  }

  /** Returns another node's claim if it was not renewed for the length of a lease. */
  #lostClaimOn({ faultsHeld }: CachedSession): string | null {
    if (faultsHeld === undefined) return null;
    const age = this.parts.clock.monotonic() - faultsHeld.since;
    return age >= this.lease.milliseconds ? faultsHeld.claim : null;
  }

  /** Stops renewing claims. They expire, and other nodes can then claim what was not sent. */
  close(): void {
    for (const { stopRenewal } of this.#underWay.values()) stopRenewal();
  }

  #begin(id: string): UnderWay {
    const stopRenewal = this.parts.clock.every(this.renewMs, () => {
      this.parts.store.claimFaults(id, this.lease, null).catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'failed to renew a claim on system errors');
      });
    });
    const underWay: UnderWay = { taken: new Set(), users: 0, stopRenewal, ending: undefined };
    this.#underWay.set(id, underWay);
    return underWay;
  }

  /** Records that system errors were sent. Never rejects. */
  async #remember(thread: CachedSession, numbers: readonly number[]): Promise<void> {
    thread.markDelivered(numbers);
    // An older system error may still be in delivery: only those before it are marked as shown.
    const oldestLeft = thread.faults[0]?.n;
    const shown = oldestLeft === undefined ? Math.max(...numbers) : oldestLeft - 1;
    try {
      await this.parts.store.markFaultsShown(thread.id, shown);
    } catch (error) {
      this.parts.log.warn({ err: error }, 'failed to mark system errors as shown');
    }
  }

  #leave(id: string, underWay: UnderWay): void {
    underWay.users--;
    if (underWay.users > 0) return;
    underWay.stopRenewal();
    // Released after the errors were marked as shown, and before the next claim, which this release must not undo.
    underWay.ending = this.parts.store
      .releaseFaults(id, this.lease.owner)
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'failed to release a claim on system errors');
      })
      .finally(() => this.#underWay.delete(id));
  }
}

/** For a response without system errors. */
export const NO_FAULTS: FaultDelivery = { events: [], confirm: () => undefined, release: () => undefined };
