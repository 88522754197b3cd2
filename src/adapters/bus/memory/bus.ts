import type { Bus } from '../../../core/ports/bus.js';
import { LocalListeners } from '../local-listeners.js';

/** Creates a bus within one process. `publish` is synchronous, unless a listener calls it: see `LocalListeners`. */
export function createMemoryBus(): Bus {
  const listeners = new LocalListeners();
  return {
    isUp: true,
    publish(sessionId, signal) {
      listeners.deliver(sessionId, signal);
    },
    subscribe(sessionId, listener) {
      return Promise.resolve(listeners.add(sessionId, listener));
    },
    close() {
      listeners.clear();
      return Promise.resolve();
    },
  };
}
