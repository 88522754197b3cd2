import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { FaultDelivery } from '../model/snapshot.js';
import type { Lease } from '../model/turn.js';
import type { Store } from '../ports/store.js';
import type { CachedSession } from './cached-session.js';

/** What is on its way of one session. */
interface UnderWay {
  /** The numbers of faults that an answer has, or had. */
  readonly taken: Set<number>;
  /** How many look for faults, or have some in an answer. */
  users: number;
  readonly stopRenewal: () => void;
  /** Set once nobody has any: the claim is being given back. */
  ending: Promise<void> | undefined;
}

/**
 * Sees to it that each fault goes out with one snapshot, whichever node makes it. A node claims a session's faults in
 * the store, and notes there that they went out once they did: what it claimed and never sent is another's when the
 * claim has run out. A claim whose stored end is still ahead counts as lost, too, when this node has seen it unrenewed
 * for as long as a claim holds.
 */
export class SystemErrorDelivery {
  readonly #underWay = new Map<string, UnderWay>();

  constructor(
    private readonly parts: { readonly store: Store; readonly log: Log; readonly clock: Clock },
    /** For whom this node claims, and for how long. */
    private readonly lease: Lease,
    private readonly renewMs: number,
  ) {}

  /** Faults for one answer: those that no other answer has. Asks the store only when memory knows of some. */
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
    const mine = claimed.faults.filter(({ n }) => !underWay.taken.has(n) && !thread.told.has(n));
    if (mine.length === 0) {
      this.#leave(thread.id, underWay);
      return NO_FAULTS;
    }
    for (const { n } of mine) underWay.taken.add(n);
    return {
      texts: mine.map(({ text }) => text),
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

  /** Another node's claim on the faults of a session, if it has not been renewed for as long as a claim holds. */
  #lostClaimOn({ faultsHeld }: CachedSession): string | null {
    if (faultsHeld === undefined) return null;
    const age = this.parts.clock.monotonic() - faultsHeld.since;
    return age >= this.lease.milliseconds ? faultsHeld.claim : null;
  }

  /** Lets go of everything: what is claimed still is another's when the claims have run out. */
  close(): void {
    for (const { stopRenewal } of this.#underWay.values()) stopRenewal();
  }

  #begin(id: string): UnderWay {
    const stopRenewal = this.parts.clock.every(this.renewMs, () => {
      this.parts.store.claimFaults(id, this.lease, null).catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'a system error on its way may be shown twice');
      });
    });
    const underWay: UnderWay = { taken: new Set(), users: 0, stopRenewal, ending: undefined };
    this.#underWay.set(id, underWay);
    return underWay;
  }

  /** They went out. Never rejects. */
  async #remember(thread: CachedSession, numbers: readonly number[]): Promise<void> {
    thread.tell(numbers);
    // An older one may still be on its way: only what is before it is remembered as shown.
    const oldestLeft = thread.faults[0]?.n;
    const shown = oldestLeft === undefined ? Math.max(...numbers) : oldestLeft - 1;
    try {
      await this.parts.store.markFaultsShown(thread.id, shown);
    } catch (error) {
      this.parts.log.warn({ err: error }, 'a shown system error may be shown again');
    }
  }

  #leave(id: string, underWay: UnderWay): void {
    underWay.users--;
    if (underWay.users > 0) return;
    underWay.stopRenewal();
    // After what was noted, and before the next claim, which must not be given back with this one.
    underWay.ending = this.parts.store
      .releaseFaults(id, this.lease.owner)
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'system errors are kept back until their claim has run out');
      })
      .finally(() => this.#underWay.delete(id));
  }
}

/** For an answer that carries none. */
export const NO_FAULTS: FaultDelivery = { texts: [], confirm: () => undefined, release: () => undefined };
