import type { Clock } from '../../../core/ports/clock.js';
import { newId } from './ids.js';

/**
 * The machine's time, and UUIDs of version 7 (RFC 9562): they grow with time, so that an index on them stays compact.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds).unref();
    return () => {
      clearInterval(timer);
    };
  },
  newId,
};
