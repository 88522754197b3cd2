import type { Signal } from '../../core/event.js';
import type { Bus } from '../../core/ports.js';

type Listener = (signal: Signal) => void;

/**
 * A bus within one process. `publish` has delivered when it returns, unless a listener called it: then the signal
 * waits until the one before it has reached everybody, so that all see the same order.
 */
export function createMemoryBus(): Bus {
  const listeners = new Map<string, Set<{ readonly listener: Listener }>>();
  const waiting: { readonly sessionId: string; readonly signal: Signal }[] = [];
  let delivering = false;

  function deliver(sessionId: string, signal: Signal): void {
    const attached = listeners.get(sessionId);
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

  return {
    publish(sessionId, signal) {
      waiting.push({ sessionId, signal });
      if (delivering) return;
      delivering = true;
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        deliver(next.sessionId, next.signal);
      }
      delivering = false;
    },

    subscribe(sessionId, listener) {
      const attached = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, attached);
      const entry = { listener };
      attached.add(entry);
      return Promise.resolve(() => {
        attached.delete(entry);
        if (attached.size === 0 && listeners.get(sessionId) === attached) listeners.delete(sessionId);
      });
    },

    close() {
      for (const attached of listeners.values()) attached.clear();
      listeners.clear();
      return Promise.resolve();
    },
  };
}
