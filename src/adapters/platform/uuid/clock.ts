import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../core/ports/clock.js';
import { newId } from './ids.js';

/**
 * The system clock. Its ids are UUIDs of version 7 (RFC 9562), whose order by time keeps indexes compact; secret ids are
 * of version 4, which is random throughout.
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
  newSecretId: () => randomUUID(),
};
