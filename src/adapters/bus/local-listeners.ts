import type { Signal } from '../../core/model/event.js';

type Listener = (signal: Signal) => void;

interface Entry {
  readonly listener: Listener;
  /** The number of the last delivery that had started when the listener was added: it receives only later ones. */
  readonly after: number;
}

interface Waiting {
  readonly sessionId: string;
  readonly signal: Signal;
}

/**
 * The listeners of this process, by session. `deliver` is synchronous, unless a listener calls it: then the signal is
 * queued until the current one has reached every listener, so that all listeners see the same order.
 */
export class LocalListeners {
  readonly #attached = new Map<string, Set<Entry>>();
  #waiting: Waiting[] = [];
  #isDelivering = false;
  #deliveries = 0;

  /** @returns a function that removes the listener */
  add(sessionId: string, listener: Listener): () => void {
    const entries = this.#attached.get(sessionId) ?? new Set();
    this.#attached.set(sessionId, entries);
    const entry = { listener, after: this.#deliveries };
    entries.add(entry);
    return () => {
      entries.delete(entry);
      if (entries.size === 0 && this.#attached.get(sessionId) === entries) this.#attached.delete(sessionId);
    };
  }

  /** True if the session has listeners here. */
  has(sessionId: string): boolean {
    return this.#attached.has(sessionId);
  }

  deliver(sessionId: string, signal: Signal): void {
    if (this.#isDelivering) {
      this.#waiting.push({ sessionId, signal });
      return;
    }
    this.#isDelivering = true;
    this.#hand(sessionId, signal);
    // Nested signals are rare: the common case, such as tokens, allocates nothing.
    while (this.#waiting.length > 0) {
      const these = this.#waiting;
      this.#waiting = [];
      for (const next of these) this.#hand(next.sessionId, next.signal);
    }
    this.#isDelivering = false;
  }

  deliverToAll(signal: Signal): void {
    for (const sessionId of [...this.#attached.keys()]) this.deliver(sessionId, signal);
  }

  clear(): void {
    for (const entries of this.#attached.values()) entries.clear();
    this.#attached.clear();
  }

  /** Calls the listeners that were added before this delivery started and have not been removed since. */
  #hand(sessionId: string, signal: Signal): void {
    const number = ++this.#deliveries;
    const entries = this.#attached.get(sessionId);
    if (entries === undefined) return;
    for (const { listener, after } of entries) {
      if (after === number) continue;
      try {
        listener(signal);
      } catch (error) {
        // A defect of that listener: rethrown as an uncaught exception, so that the others still receive the signal.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
