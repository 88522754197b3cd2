import { overQuota, requestQuotas, type LimitSettings, type Quota, type Subjects } from '../model/quota.js';

/** How many sessions and keys are counted at the same time. Beyond that, the oldest counter is evicted. */
const MAX_SUBJECTS = 100_000;

/**
 * Enforces the limits on requests per minute of sessions and App keys. Counts in the memory of this process: a request
 * that is refused, or that names a session which does not exist, must not cause a write to disk.
 */
export class RequestLimits {
  readonly #counts = new Map<string, number>();
  /** The first millisecond of the minute that is being counted. */
  #minute = 0;

  constructor(
    private readonly settings: LimitSettings,
    private readonly clock: { now(): number },
    private readonly maxSubjects = MAX_SUBJECTS,
  ) {}

  /** True if any limit is configured. */
  get isNeeded(): boolean {
    return [this.settings.session, this.settings.key].some(
      ({ requestsPerMinute }) => requestsPerMinute !== null,
    );
  }

  /** The number of counters in memory. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Counts a request for all of its subjects, or for none of them.
   * @throws RefusedError `too_many` if one of them has used up its limit
   */
  count(subjects: Subjects): void {
    const now = this.clock.now();
    const quotas = requestQuotas(this.settings, subjects, now);
    const [first] = quotas;
    if (first === undefined) return;
    if (first.from !== this.#minute) {
      this.#minute = first.from;
      this.#counts.clear();
    }
    const exhausted = quotas.find((quota) => this.#used(quota) >= quota.limit);
    if (exhausted !== undefined) throw overQuota(exhausted, now);
    for (const quota of quotas) this.#add(quota);
  }

  #used({ subject }: Quota): number {
    return this.#counts.get(subject) ?? 0;
  }

  #add(quota: Quota): void {
    const used = this.#used(quota);
    const [oldest] = used === 0 && this.#counts.size >= this.maxSubjects ? this.#counts.keys() : [];
    if (oldest !== undefined) this.#counts.delete(oldest);
    this.#counts.set(quota.subject, used + 1);
  }
}
