import type { Signal } from '../../core/model/event.js';

type Listener = (signal: Signal) => void;

/** A listener, until it goes. */
interface Entry {
  readonly listener: Listener;
  /** How many signals had been delivered, or were being, when it came: it gets those after them. */
  readonly after: number;
}

/** A signal that waits. */
interface Waiting {
  readonly sessionId: string;
  readonly signal: Signal;
}

/**
 * The listeners of this process, by session. `deliver` has delivered when it returns, unless a listener called it: then
 * the signal waits until the one before it has reached everybody, so that all see the same order.
 */
export class LocalListeners {
  readonly #attached = new Map<string, Set<Entry>>();
  #waiting: Waiting[] = [];
  #isDelivering = false;
  #deliveries = 0;

  /** @returns what takes it away again */
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

  deliver(sessionId: string, signal: Signal): void {
    if (this.#isDelivering) {
      this.#waiting.push({ sessionId, signal });
      return;
    }
    this.#isDelivering = true;
    this.#hand(sessionId, signal);
    // Signals of signals are few: nothing is made for those that are not, tokens among them.
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

  /** To those who were there when it began, and still are. */
  #hand(sessionId: string, signal: Signal): void {
    const number = ++this.#deliveries;
    const entries = this.#attached.get(sessionId);
    if (entries === undefined) return;
    for (const { listener, after } of entries) {
      if (after === number) continue;
      try {
        listener(signal);
      } catch (error) {
        // A defect of that listener: reported as uncaught, while the others still get the signal.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
