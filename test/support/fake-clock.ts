import { v4 as uuid } from 'uuid';
import type { Clock } from '../../src/core/ports/clock.js';

/** A clock that a test moves. Its wall time starts at the real one. */
export class FakeClock implements Clock {
  #steady = 1_000;
  #offset = Date.now() - 1_000;

  now(): number {
    return this.#steady + this.#offset;
  }

  monotonic(): number {
    return this.#steady;
  }

  newId(): string {
    return uuid();
  }

  /** Lets time pass. */
  pass(milliseconds: number): void {
    this.#steady += milliseconds;
  }

  /** Sets the wall clock forward, or back when negative. No time passes. */
  step(milliseconds: number): void {
    this.#offset += milliseconds;
  }
}
