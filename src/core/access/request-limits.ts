import { overQuota, requestQuotas, type LimitSettings, type Quota, type Subjects } from '../model/quota.js';

/** So many sessions and keys are counted at a time; of more, the one seen first is forgotten. */
const MAX_SUBJECTS = 100_000;

/**
 * The limits of requests a minute, of sessions and App keys. They are counted in the memory of this process: a request
 * that is refused, or that names a session which does not exist, must not write to the disk.
 */
export class RequestLimits {
  readonly #counts = new Map<string, number>();
  /** The minute that is counted, by its first millisecond. */
  #minute = 0;

  constructor(
    private readonly settings: LimitSettings,
    private readonly clock: { now(): number },
    private readonly maxSubjects = MAX_SUBJECTS,
  ) {}

  /** True when there is a limit at all. */
  get isNeeded(): boolean {
    return [this.settings.session, this.settings.key].some(
      ({ requestsPerMinute }) => requestsPerMinute !== null,
    );
  }

  /** How many sessions and keys are counted. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Counts a request for all of its subjects, or for none of them. @throws RefusedError `too_many` when one has used up
   * its limit
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
