import type { Signal } from '../../core/event.js';

type Listener = (signal: Signal) => void;

/**
 * The listeners of this node. `deliver` has delivered when it returns, unless a listener called it: then the signal waits until
 * the one before it has reached everybody, so that all see the same order.
 */
export class LocalListeners {
  readonly #listeners = new Map<string, Set<{ readonly listener: Listener }>>();
  readonly #waiting: { readonly sessionId: string; readonly signal: Signal }[] = [];
  #isDelivering = false;

  add(sessionId: string, listener: Listener): () => void {
    const attached = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, attached);
    const entry = { listener };
    attached.add(entry);
    return () => {
      attached.delete(entry);
      if (attached.size === 0 && this.#listeners.get(sessionId) === attached)
        this.#listeners.delete(sessionId);
    };
  }

  deliver(sessionId: string, signal: Signal): void {
    this.#waiting.push({ sessionId, signal });
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#hand(next.sessionId, next.signal);
    }
    this.#isDelivering = false;
  }

  deliverToAll(signal: Signal): void {
    for (const sessionId of [...this.#listeners.keys()]) this.deliver(sessionId, signal);
  }

  clear(): void {
    for (const attached of this.#listeners.values()) attached.clear();
    this.#listeners.clear();
  }

  #hand(sessionId: string, signal: Signal): void {
    const attached = this.#listeners.get(sessionId);
    for (const entry of [...(attached ?? [])]) {
      if (attached?.has(entry) !== true) continue;
      try {
        entry.listener(signal);
      } catch (error) {
        // A defect of that listener: reported as uncaught, while the others still get the signal.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
