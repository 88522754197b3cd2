import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { StoreUnavailableError, type Store } from '../ports/store.js';

/** `ok`: the service accepts new messages. */
export type HealthStatus = 'ok' | 'draining' | 'store_unavailable';

/** How long a result is shared, because each probe writes to the store. */
const FRESH_MS = 1_000;
/** How long a probe may take before the store counts as unavailable. */
const PATIENCE_MS = 2_000;

/** Checks that the store can be written to, at most once a second. */
export class Health {
  #asked: Promise<HealthStatus> | undefined;
  #askedAt = 0;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Never rejects. */
  status(): Promise<HealthStatus> {
    const now = this.clock.monotonic();
    if (this.#asked === undefined || now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      this.#asked = this.#ask();
    }
    return this.#asked;
  }

  async #ask(): Promise<HealthStatus> {
    const patience = new AbortController();
    const late = pause(this.clock, PATIENCE_MS, patience.signal).then(() => {
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
      patience.abort(new Error('The check has ended'));
    }
  }
}
