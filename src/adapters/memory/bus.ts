import type { Signal } from '../../core/event.js';
import type { Bus } from '../../core/ports.js';

type Listener = (signal: Signal) => void;

const NOBODY: readonly Entry[] = [];

/** A listener, until it goes. */
interface Entry {
  readonly listener: Listener;
  isAttached: boolean;
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
  /** Lists are replaced, never changed: whoever goes over one is not disturbed. */
  const attached = new Map<string, readonly Entry[]>();
  let waiting: Waiting[] = [];
  let isDelivering = false;

  function deliver(sessionId: string, signal: Signal): void {
    for (const entry of attached.get(sessionId) ?? NOBODY) {
      if (!entry.isAttached) continue;
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

  function detach(sessionId: string, entry: Entry): void {
    if (!entry.isAttached) return;
    entry.isAttached = false;
    const left = (attached.get(sessionId) ?? NOBODY).filter((other) => other !== entry);
    if (left.length === 0) attached.delete(sessionId);
    else attached.set(sessionId, left);
  }

  return {
    publish(sessionId, signal) {
      if (isDelivering) {
        waiting.push({ sessionId, signal });
        return;
      }
      isDelivering = true;
      deliver(sessionId, signal);
      // Signals of signals are few: each token is none.
      while (waiting.length > 0) {
        const these = waiting;
        waiting = [];
        for (const next of these) deliver(next.sessionId, next.signal);
      }
      isDelivering = false;
    },

    subscribe(sessionId, listener) {
      const entry = { listener, isAttached: true };
      attached.set(sessionId, [...(attached.get(sessionId) ?? NOBODY), entry]);
      return Promise.resolve(() => {
        detach(sessionId, entry);
      });
    },

    close() {
      for (const entries of attached.values()) for (const entry of entries) entry.isAttached = false;
      attached.clear();
      return Promise.resolve();
    },
  };
}
