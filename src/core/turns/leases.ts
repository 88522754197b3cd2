import type { Clock } from '../ports/clock.js';
import type { LeaseMark } from '../ports/lease-store.js';
import { LeaseWatch } from '../ports/lease-watch.js';
import type { Observer } from '../ports/observer.js';
import type { Log } from '../ports/log.js';
import type { Runner } from './runner.js';
import type { CoreSettings } from '../model/settings.js';
import type { Store } from '../ports/store.js';

/** The interval between searches for abandoned turns, and how many are claimed at once. */
const RECOVERY_MS = 1_000;
const RECOVERY_BATCH = 64;

/**
 * Renews the leases of the turns that run in this process, stops turns whose interrupt a renewal reports, and takes
 * over abandoned turns. A turn whose lease was not renewed in time is stopped, even if a renewal is in progress,
 * because another node may own it by now.
 */
export class Leases {
  #timers: readonly (() => void)[] = [];
  #cancelLapse: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isBusy = false;
  readonly #watch: LeaseWatch;

  constructor(
    private readonly parts: {
      readonly store: Store;
      readonly log: Log;
      readonly observer: Observer;
      readonly settings: CoreSettings;
      readonly clock: Clock;
    },
    private readonly runner: Runner,
  ) {
    this.#watch = new LeaseWatch(parts.settings.leaseMs);
  }

  /** Takes over abandoned turns once, then starts the timers. */
  async start(): Promise<void> {
    await this.#recover();
    const { clock, settings } = this.parts;
    this.#timers = [
      clock.every(settings.renewMs, () => void this.#renew()),
      clock.every(RECOVERY_MS, () => void this.#recover()),
    ];
    this.#giveUpLapsed();
  }

  stop(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
    this.#cancelLapse?.();
    this.#cancelLook?.();
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { store, log, clock } = this.parts;
    const running = this.runner.all;
    if (running.length === 0) return;
    // Taken before the request, so that the lease is never believed to last longer than it does.
    const asked = clock.monotonic();
    try {
      const ids = running.map(({ turn }) => turn.id);
      const kept = new Map(
        (await store.renewLeases(this.runner.lease, ids)).map((lease) => [lease.turnId, lease]),
      );
      for (const turn of running) {
        const lease = kept.get(turn.turn.id);
        if (lease === undefined) turn.stop('lost');
        else {
          turn.heldSince = Math.max(turn.heldSince, asked);
          if (lease.cancelRequested) turn.stop('interrupted');
        }
      }
    } catch (error) {
      log.warn({ err: error, turns: running.length }, 'failed to renew leases');
    }
  }

  /** Stops turns whose lease has expired, and schedules itself for the next expiry. */
  #giveUpLapsed(): void {
    const { log, settings, clock } = this.parts;
    const now = clock.monotonic();
    let next = settings.leaseMs;
    let lapsed = 0;
    for (const turn of this.runner.all) {
      const left = turn.heldSince + settings.leaseMs - now;
      if (left > 0) next = Math.min(next, left);
      else if (!turn.isStopped) {
        lapsed++;
        turn.stop('lost');
      }
    }
    if (lapsed > 0) log.warn({ turns: lapsed }, 'stopped turns whose leases expired');
    this.#cancelLapse = clock.after(Math.ceil(next), () => {
      this.#giveUpLapsed();
    });
  }

  /** Never rejects. */
  async #recover(): Promise<void> {
    if (this.runner.claim === null || this.#isBusy) return;
    this.#isBusy = true;
    try {
      const lost = await this.#findLost();
      await this.runner.claiming(() => this.#claimAbandoned(lost));
      // The store is available: record the attempts that were waiting for it.
      await this.runner.left.count();
    } catch (error) {
      this.parts.log.warn({ err: error }, 'failed to look for abandoned turns');
    } finally {
      this.#isBusy = false;
    }
    this.#lookAgain();
  }

  /** Looks as soon as the next lease counts as lost, instead of at the next search. */
  #lookAgain(): void {
    const { clock } = this.parts;
    const wait = this.#watch.nextLostAt - clock.monotonic();
    this.#cancelLook?.();
    const isStopped = this.#timers.length === 0;
    if (isStopped || wait <= 0 || wait >= RECOVERY_MS) return;
    this.#cancelLook = clock.after(Math.ceil(wait), () => void this.#recover());
  }

  async #findLost(): Promise<LeaseMark[]> {
    const { store, clock } = this.parts;
    const askedAt = clock.monotonic();
    const leases = await store.readLeases();
    return this.#watch.findLost(leases, { askedAt, answeredAt: clock.monotonic() });
  }

  /** Claims in batches until none is left, so that turns do not wait for the next search. */
  async #claimAbandoned(lost: readonly LeaseMark[]): Promise<void> {
    const { store, observer, log, clock } = this.parts;
    let from = 0;
    for (;;) {
      const claim = this.runner.claim;
      if (claim === null) return;
      const askedAt = clock.monotonic();
      const claimed = await store.claimAbandoned(
        claim,
        lost.slice(from, from + RECOVERY_BATCH),
        RECOVERY_BATCH,
      );
      from += RECOVERY_BATCH;
      if (claimed.length > 0) {
        observer.tookOver(claimed.length);
        log.info({ turns: claimed.length }, 'took over abandoned turns');
      }
      for (const turn of claimed) this.runner.recover(turn, askedAt);
      if (claimed.length < RECOVERY_BATCH && from >= lost.length) return;
    }
  }
}
