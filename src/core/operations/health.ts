import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { StoreUnavailableError, type Store } from '../ports/store.js';

/** `ok`: the service accepts new messages. */
export type HealthStatus = 'ok' | 'draining' | 'store_unavailable';

/** How long a result is shared, because each probe writes to the store. */
const FRESH_MS = 1_000;
/** How long a probe may take before the store counts as unavailable. */
const TIMEOUT_MS = 2_000;

/** Checks that the store can be written to, at most once a second. */
export class Health {
  #probe: Promise<HealthStatus> | undefined;
  #probedAt = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Never rejects. */
  status(): Promise<HealthStatus> {
    const now = this.clock.monotonic();
    if (this.#probe === undefined || now - this.#probedAt > FRESH_MS) {
      this.#probedAt = now;
      this.#probe = this.#check();
    }
    return this.#probe;
  }

  async #check(): Promise<HealthStatus> {
    const timeout = new AbortController();
    const late = pause(this.clock, TIMEOUT_MS, timeout.signal).then(() => {
      throw new StoreUnavailableError('The store did not respond in time');
    });
    late.catch(() => undefined);
    try {
      await Promise.race([this.store.check(), late]);
      return 'ok';
    } catch (error) {
      this.log.error({ err: error }, 'store health check failed');
      return 'store_unavailable';
    } finally {
      timeout.abort(new Error('The check has ended'));
    }
  }
}
