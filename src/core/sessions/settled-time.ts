import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';

/** How long the wall clock must stay ahead before a step forward counts. */
const SETTLE_MS = 600_000;
/** A smaller step forward counts at once: the offset between two clocks always varies a little. */
const STEP_MS = 60_000;

/**
 * The wall clock for deletions, which cannot be undone: a step forward counts once it has lasted for ten minutes, so a
 * wrong date that is corrected before deletes nothing. A step back counts at once. The sleep of a suspended machine is
 * a step forward, too, because the monotonic clock stands still in it.
 */
export class SettledTime {
  /** Wall time minus monotonic time: only steps change it. */
  #offset: number;
  /** A step forward that does not count yet: since when, by the monotonic clock, and the smallest offset since then. */
  #step: { readonly since: number; offset: number } | undefined;

  constructor(
    private readonly parts: { readonly clock: Pick<Clock, 'now' | 'monotonic'>; readonly log: Log },
  ) {
    this.#offset = parts.clock.now() - parts.clock.monotonic();
  }

  /** Returns the time in whole milliseconds since the epoch. Only calls detect steps: call it once a minute. */
  now(): number {
    const { clock } = this.parts;
    const at = clock.monotonic();
    this.#offset = this.#settledOffset(at, clock.now() - at);
    return Math.floor(at + this.#offset);
  }

  #settledOffset(at: number, offset: number): number {
    const ahead = offset - this.#offset;
    if (ahead < STEP_MS) {
      this.#step = undefined;
      return offset;
    }
    if (this.#step === undefined) {
      this.parts.log.warn({ seconds: Math.round(ahead / 1000) }, 'wall clock stepped forward');
    }
    this.#step ??= { since: at, offset };
    this.#step.offset = Math.min(this.#step.offset, offset);
    if (at - this.#step.since < SETTLE_MS) return this.#offset;
    const settled = this.#step.offset;
    this.#step = undefined;
    return settled;
  }
}
