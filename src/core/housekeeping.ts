import type { Parts } from './parts.js';

const EVERY_MS = 60_000;
/** Counts of use are kept for as long as the longest window and a day. */
const USES_MS = 2 * 86_400_000;
/** Counts of requests are kept for a year and a month. */
const USAGE_MS = 400 * 86_400_000;

/** Removes what has had its time: old events and idempotency keys, and idle threads where retention is set. */
export class Housekeeping {
  #timer: NodeJS.Timeout | undefined;
  #pruning: Promise<void> = Promise.resolve();

  constructor(private readonly parts: Parts) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#pruning = this.#pruning.then(() => this.#prune());
    }, EVERY_MS);
  }

  /** Resolves when nothing is being removed. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pruning;
  }

  /** Never rejects. */
  async #prune(): Promise<void> {
    const { store, bus, threads, settings, clock, log } = this.parts;
    const at = clock.now();
    try {
      const deleted = await store.prune({
        at,
        threadsBefore: settings.retentionMs === null ? null : at - settings.retentionMs,
        eventsKept: settings.eventsKept,
        eventsSince: at - settings.eventsKeptMs,
        idempotencyBefore: at - settings.idempotencyMs,
        usesBefore: at - USES_MS,
        usageBefore: at - USAGE_MS,
      });
      for (const id of deleted) {
        threads.forget(id, true);
        bus.publish(id, { type: 'session_deleted' });
      }
      if (deleted.length > 0) log.info({ threads: deleted.length }, 'deleted idle threads');
    } catch (error) {
      log.warn({ err: error }, 'old data could not be removed');
    }
  }
}
