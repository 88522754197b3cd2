import { setTimeout as pause } from 'node:timers/promises';

/** The shortest time between the openings of two streams, in milliseconds. */
export const STREAM_GAP_MS = 50;
/** How many streams may wait to be opened: a proxy that restarts ends those of all running calls at once. */
const MAX_WAITING = 1_024;

/**
 * Spaces out the event streams that a connection opens. When a server ends a stream, the SDK opens it again after the
 * pause that the server chooses, which may be none, and does so for abandoned calls, too.
 */
export class StreamOpenings {
  #nextAt = -Infinity;
  #waiting = 0;

  /** True when no further stream may wait. */
  get areCrowded(): boolean {
    return this.#waiting >= MAX_WAITING;
  }

  /** Resolves when the next stream may be opened. @throws Error when the signal aborts */
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
