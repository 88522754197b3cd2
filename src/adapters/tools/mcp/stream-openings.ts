import { setTimeout as pause } from 'node:timers/promises';

/** Minimum delay between the openings of two streams, in milliseconds. */
export const STREAM_GAP_MS = 50;
/** How many streams may wait to be opened. High: a proxy that restarts ends the streams of all running calls. */
const MAX_WAITING = 1_024;

/**
 * Limits how often a connection opens event streams. When a server ends a stream, the SDK opens it again after the
 * delay that the server sets, which may be 0, also for abandoned calls.
 */
export class StreamOpenings {
  #nextAt = -Infinity;
  #waiting = 0;

  /** True when no further stream may wait to be opened. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  /**
   * Resolves when the next stream may be opened.
   * @throws AbortError when the signal aborts
   */
  async next(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + STREAM_GAP_MS;
    if (at === now) return;
    this.#waiting++;
    try {
      await pause(at - now, undefined, { signal, ref: false });
    } finally {
      this.#waiting--;
    }
  }
}
