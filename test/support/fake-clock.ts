import { setImmediate as nextRound } from 'node:timers/promises';
import { v4 as uuid } from 'uuid';
import type { Clock } from '../../src/core/ports/clock.js';

interface SetTimer {
  at: number;
  readonly everyMs: number | null;
  readonly act: () => void;
}

/** A clock that a test moves. Its wall time starts at the real one. */
export class FakeClock implements Clock {
  #steady = 1_000;
  #offset = Date.now() - 1_000;
  readonly #timers = new Set<SetTimer>();

  now(): number {
    return this.#steady + this.#offset;
  }

  monotonic(): number {
    return this.#steady;
  }

  newId(): string {
    return uuid();
  }

  newSecretId(): string {
    return uuid();
  }

  after(milliseconds: number, act: () => void): () => void {
    return this.#set({ at: this.#steady + milliseconds, everyMs: null, act });
  }

  every(milliseconds: number, act: () => void): () => void {
    return this.#set({ at: this.#steady + milliseconds, everyMs: milliseconds, act });
  }

  /** Lets time pass. Timers that are due in it act, in order. */
  pass(milliseconds: number): void {
    const until = this.#steady + milliseconds;
    while (this.#actNext(until));
    this.#steady = until;
  }

  /** Lets time pass. What each timer starts is done as far as it needs no time, before the next one acts. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#steady + milliseconds;
    do await this.#settle();
    while (this.#actNext(until));
    this.#steady = until;
  }

  /** Lets time pass, timer by timer, until the promise is settled: at most an hour. */
  async passUntil<T>(promise: Promise<T>): Promise<T> {
    const until = this.#steady + 3_600_000;
    const progress = { isSettled: false };
    const settle = (): void => {
      progress.isSettled = true;
    };
    promise.then(settle, settle);
    await this.#settle();
    while (!progress.isSettled) {
      if (!this.#actNext(until) && this.#timers.size > 0)
        throw new Error('An hour passed, and nothing came of it');
      await this.#settle();
    }
    return promise;
  }

  /** Sets the wall clock forward, or back when negative. No time passes. */
  step(milliseconds: number): void {
    this.#offset += milliseconds;
  }

  #set(timer: SetTimer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Acts for the timer that is due first until then, at its time. False: none is. */
  #actNext(until: number): boolean {
    let next: SetTimer | undefined;
    for (const timer of this.#timers)
      if (timer.at <= until && (next === undefined || timer.at < next.at)) next = timer;
    if (next === undefined) return false;
    this.#steady = Math.max(this.#steady, next.at);
    if (next.everyMs === null) this.#timers.delete(next);
    else next.at += next.everyMs;
    next.act();
    return true;
  }

  /** Two rounds of the event loop: the memory store and bus need no more for any step. */
  async #settle(): Promise<void> {
    await nextRound();
    await nextRound();
  }
}
