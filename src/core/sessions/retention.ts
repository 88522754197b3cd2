import type { Prune, Store } from '../ports/store.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import { LOOKED_FOR_MS } from '../model/wallet-request.js';
import type { SessionCache } from './session-cache.js';
import { SettledTime } from './settled-time.js';

const EVERY_MS = 60_000;
/** Quota counters are kept for the longest quota window plus a day. */
const USES_MS = 2 * 86_400_000;
/** Request counts are kept for 400 days: a year plus about a month. */
const USAGE_MS = 400 * 86_400_000;
/** The minutes of the operator's charts, and failures. */
const ACTIVITY_MS = 7 * 86_400_000;

/** Unused secrets are kept for 30 days plus one: their last use is recorded by the day only. */
const SECRETS_MS = 31 * 86_400_000;
const SECRETS_A_STEP = 500;
const REQUESTS_A_STEP = 200;

/** The dependencies of `Retention`. */
export interface RetentionParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: CoreSettings;
  readonly threads: SessionCache;
}

/**
 * Periodically removes expired data: old events, idempotency keys, counters, unused secrets and wallet requests, and
 * idle threads where retention is configured.
 */
export class Retention {
  #cancel: (() => void) | undefined;
  #pruning: Promise<void> | undefined;
  readonly #stop = new AbortController();
  readonly #time: SettledTime;

  constructor(private readonly parts: RetentionParts) {
    this.#time = new SettledTime(parts);
  }

  start(): void {
    this.#cancel = this.parts.clock.every(EVERY_MS, () => {
      const at = this.#time.now();
      this.#pruning ??= this.#prune(at).finally(() => (this.#pruning = undefined));
    });
  }

  /** Stops the timer, and the pruning in progress after its current step. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#stop.abort();
    await this.#pruning;
  }

  /** Never rejects. */
  async #prune(at: number): Promise<void> {
    const { store, bus, threads, settings, log } = this.parts;
    try {
      const expired: Prune = {
        at,
        threadsBefore: settings.retentionMs === null ? null : at - settings.retentionMs,
        eventsKept: settings.eventsKept,
        eventsSince: at - settings.eventsKeptMs,
        idempotencyBefore: at - settings.idempotencyMs,
        usesBefore: at - USES_MS,
        transactionsBefore: at - settledMs(settings),
        usageBefore: at - USAGE_MS,
        activityBefore: at - ACTIVITY_MS,
      };
      const deleted = await store.prune(expired, this.#stop.signal);
      for (const id of deleted) {
        threads.forget(id);
        bus.publish(id, { type: 'session_deleted' });
      }
      if (deleted.length > 0) log.info({ threads: deleted.length }, 'deleted idle threads');
      await this.#pruneSecrets(at - SECRETS_MS);
      await this.#expireWalletRequests();
    } catch (error) {
      log.warn({ err: error }, 'failed to prune old data');
    }
  }

  async #pruneSecrets(before: number): Promise<void> {
    const { store, log } = this.parts;
    let removed = 0;
    let some = SECRETS_A_STEP;
    while (some === SECRETS_A_STEP && !this.#stop.signal.aborted) {
      some = await store.pruneSecrets(before, SECRETS_A_STEP);
      removed += some;
    }
    if (removed > 0) log.info({ secrets: removed }, 'removed unused secrets');
  }

  /** By the wall clock, because clients were given the time at which a request expires. */
  async #expireWalletRequests(): Promise<void> {
    const { store, threads, bus, clock } = this.parts;
    const now = clock.now();
    while (!this.#stop.signal.aborted) {
      const changed = await store.expireWalletRequests(now, REQUESTS_A_STEP);
      if (changed.length === 0) return;
      for (const { sessionId, commit } of changed) {
        if (commit === null) continue;
        threads.noteRevision(sessionId, commit.revision);
        announce(bus, sessionId, commit);
      }
    }
  }
}

/**
 * How long a transaction that confirmed a request could be reported for another one, in milliseconds: that one may have
 * been staged just before the first was found, and both are staged, pending and looked for as long as possible.
 */
function settledMs({ walletRequestMs }: Pick<CoreSettings, 'walletRequestMs'>): number {
  return 3 * walletRequestMs + 2 * LOOKED_FOR_MS;
}
