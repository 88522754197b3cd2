import type { Signal } from '../../core/event.js';
import type { Bus } from '../../core/ports.js';

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
 * A bus within one process. `publish` has delivered when it returns, unless a listener called it: then the signal
 * waits until the one before it has reached everybody, so that all see the same order.
 */
export function createMemoryBus(): Bus {
  const attached = new Map<string, Set<Entry>>();
  let waiting: Waiting[] = [];
  let isDelivering = false;
  let deliveries = 0;

  /** To those who were there when it began, and still are. */
  function deliver(sessionId: string, signal: Signal): void {
    const number = ++deliveries;
    const entries = attached.get(sessionId);
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

  return {
    publish(sessionId, signal) {
      if (isDelivering) {
        waiting.push({ sessionId, signal });
        return;
      }
      isDelivering = true;
      deliver(sessionId, signal);
      // Signals of signals are few: nothing is made for those that are not, tokens among them.
      while (waiting.length > 0) {
        const these = waiting;
        waiting = [];
        for (const next of these) deliver(next.sessionId, next.signal);
      }
      isDelivering = false;
    },

    subscribe(sessionId, listener) {
      const entries = attached.get(sessionId) ?? new Set();
      attached.set(sessionId, entries);
      const entry = { listener, after: deliveries };
      entries.add(entry);
      return Promise.resolve(() => {
        entries.delete(entry);
        if (entries.size === 0 && attached.get(sessionId) === entries) attached.delete(sessionId);
      });
    },

    close() {
      for (const entries of attached.values()) entries.clear();
      attached.clear();
      return Promise.resolve();
    },
  };
}
