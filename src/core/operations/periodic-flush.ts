import type { Clock } from '../ports/clock.js';

/** Writes what has been collected every few seconds, one write after the other. */
export class PeriodicFlush {
  #cancel: (() => void) | undefined;
  #flushing: Promise<void> = Promise.resolve();

  /** @param write never rejects: it keeps what could not be stored */
  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
    private readonly write: () => Promise<void>,
  ) {}

  start(): void {
    this.#cancel ??= this.clock.every(this.everyMs, () => void this.flush());
  }

  /** Writes after the writes under way. Never rejects. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(this.write);
    return this.#flushing;
  }

  /** Stops the timer and flushes one last time. */
  async close(): Promise<void> {
    this.#cancel?.();
    await this.flush();
  }
}
