import type { LeaseMark, LeaseSight } from './lease-store.js';

/** When a read of leases began and ended, by this process's steady clock, in milliseconds. */
export interface LookTimes {
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface Watched {
  readonly mark: string;
  /** The moment of the steady clock from which the lease counts as lost if nobody has renewed it. */
  readonly lostAt: number;
}

/**
 * Decides which leases are lost, by this process's steady clock: those that nobody has renewed for as long as a lease
 * holds. The stored end of a lease is a time of a wall clock, which an administrator or NTP can set either way, so only
 * the first look uses it: a process that has just started has observed nothing yet, and its predecessor's turns should
 * not wait. See docs/decisions/023-steady-clocks.md.
 */
export class LeaseWatch {
  /** Only leases of the last look, so that memory is bounded by what is leased. */
  #watched: ReadonlyMap<string, Watched> | undefined;

  /** @param leaseMs how long a lease holds without renewal, in milliseconds */
  constructor(private readonly leaseMs: number) {}

  /**
   * Compares all leases with those of the looks before.
   * @param sights every lease that there is now
   * @returns the lost ones, to be claimed by their marks: a renewal after the read makes another mark
   */
  findLost(sights: readonly LeaseSight[], { askedAt, answeredAt }: LookTimes): LeaseMark[] {
    const before = this.#watched;
    const watched = new Map<string, Watched>();
    const lost: LeaseMark[] = [];
    for (const { id, mark, leftMs } of sights) {
      const known = before?.get(id);
      const lease =
        known?.mark === mark
          ? known
          : // The read saw the lease alive at some moment before its response.
            {
              mark,
              lostAt: before === undefined ? this.#firstEnd(leftMs, answeredAt) : answeredAt + this.leaseMs,
            };
      watched.set(id, lease);
      if (lease.lostAt <= askedAt) lost.push({ id, mark });
    }
    this.#watched = watched;
    return lost;
  }

  /** A lease that has ended, or ends further ahead than any lease is long, has no owner who renews it. */
  #firstEnd(leftMs: number, answeredAt: number): number {
    return leftMs <= 0 || leftMs > this.leaseMs ? -Infinity : answeredAt + leftMs;
  }
}
