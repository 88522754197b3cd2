import type { LeaseMark, LeaseSight } from './lease-store.js';

/** When a read of leases started and ended, by this process's monotonic clock, in milliseconds. */
export interface LookTimes {
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface Watched {
  readonly mark: string;
  /** The time of the monotonic clock from which the lease counts as lost unless it is renewed. */
  readonly lostAt: number;
}

/**
 * Detects lost leases: those that were not renewed for a whole lease period by this process's monotonic clock. The
 * stored expiry of a lease is a time of a wall clock, which can be set either way, so only the first check uses it: a
 * process that has just started has observed nothing yet, and its predecessor's turns should not wait. See
 * docs/decisions/023-steady-clocks.md.
 */
export class LeaseWatch {
  /** Only the leases of the last check, so that memory is bounded by the number of leases. */
  #watched: ReadonlyMap<string, Watched> | undefined;

  /** @param leaseMs how long a lease is valid without renewal, in milliseconds */
  constructor(private readonly leaseMs: number) {}

  /**
   * Compares all leases with those of earlier checks.
   * @param sights all current leases
   * @returns the lost leases; the caller claims them by mark, which fails for a lease that was renewed after the read
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
          : // The lease was current at some moment before the response.
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

  /** When the next lease counts as lost unless it is renewed, by the monotonic clock. Infinity: there is none. */
  get nextLostAt(): number {
    let next = Infinity;
    for (const { lostAt } of this.#watched?.values() ?? []) next = Math.min(next, lostAt);
    return next;
  }

  /**
   * A lease that has expired has no owner who renews it. The same is true of one with more than a lease period left: it
   * was granted before the wall clock was set back.
   */
  #firstEnd(leftMs: number, answeredAt: number): number {
    return leftMs <= 0 || leftMs > this.leaseMs ? -Infinity : answeredAt + leftMs;
  }
}
