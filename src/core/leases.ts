import type { Observer } from './observer.js';
import type { Log } from './ports.js';
import type { Runner } from './runner.js';
import type { CoreSettings } from './settings.js';
import type { Store } from './store.js';

/** How often abandoned turns are looked for, and how many are claimed at once. */
const RECOVERY_MS = 1_000;
const RECOVERY_BATCH = 64;

/**
 * Keeps the leases of what this process runs, hears of interrupts by their renewal, and takes over what others lost.
 * A process that cannot reach the store for the length of a lease gives its turns up: another may have them by now.
 */
export class Leases {
  #renewal: NodeJS.Timeout | undefined;
  #recovery: NodeJS.Timeout | undefined;
  #renewedAt = 0;
  #isBusy = false;

  constructor(
    private readonly parts: {
      readonly store: Store;
      readonly log: Log;
      readonly observer: Observer;
      readonly settings: CoreSettings;
      readonly clock: { now(): number };
    },
    private readonly runner: Runner,
  ) {}

  /** Recovers once, then begins. */
  async start(): Promise<void> {
    this.#renewedAt = this.parts.clock.now();
    await this.#recover();
    this.#renewal = setInterval(() => void this.#renew(), this.parts.settings.renewMs);
    this.#recovery = setInterval(() => void this.#recover(), RECOVERY_MS);
  }

  stop(): void {
    clearInterval(this.#renewal);
    clearInterval(this.#recovery);
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { store, log, settings, clock } = this.parts;
    const running = this.runner.all;
    const asked = clock.now();
    if (running.length === 0) {
      this.#renewedAt = asked;
      return;
    }
    try {
      const ids = running.map(({ turn }) => turn.id);
      const kept = new Map(
        (await store.renewLeases(this.runner.lease, ids)).map((lease) => [lease.turnId, lease]),
      );
      this.#renewedAt = asked;
      for (const turn of running) {
        const lease = kept.get(turn.turn.id);
        if (lease === undefined) turn.stop('lost');
        else if (lease.cancelRequested) turn.stop('interrupted');
      }
    } catch (error) {
      log.warn({ err: error, turns: running.length }, 'leases could not be renewed');
      if (clock.now() - this.#renewedAt > settings.leaseMs) for (const turn of running) turn.stop('lost');
    }
  }

  /** Never rejects. */
  async #recover(): Promise<void> {
    const claim = this.runner.claim;
    if (claim === null || this.#isBusy) return;
    this.#isBusy = true;
    try {
      let claimed;
      do {
        claimed = await this.parts.store.claimAbandoned(claim, RECOVERY_BATCH);
        if (claimed.length > 0) {
          this.parts.observer.tookOver(claimed.length);
          this.parts.log.info({ turns: claimed.length }, 'took over abandoned turns');
        }
        for (const turn of claimed) this.runner.start(turn);
        // A whole batch: there may be more, and a crash must not leave them waiting.
      } while (claimed.length === RECOVERY_BATCH && this.runner.claim !== null);
    } catch (error) {
      this.parts.log.warn({ err: error }, 'abandoned turns could not be looked for');
    } finally {
      this.#isBusy = false;
    }
  }
}
