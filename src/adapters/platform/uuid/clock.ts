import { v4, v7 } from 'uuid';
import type { Clock } from '../../../core/ports/clock.js';

/**
 * The system clock. Its ids are UUIDs of version 7 (RFC 9562), whose order by time keeps indexes compact: each is greater
 * than all earlier ones of this process, even if the clock goes back. Secret ids are of version 4, random throughout.
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
  newId: () => v7(),
  newSecretId: () => v4(),
};
