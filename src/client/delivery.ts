import { ClientError } from './error.js';
import { Backoff, linked } from './pacing.js';
import type { Wire } from './wire.js';

/** How often a message is sent until its loss is final, and how long a wait that the service asks for is borne. */
const ATTEMPTS = 12;
const PATIENCE_MS = 30_000;

/**
 * Makes attempts until one works, or fails for a reason that does not pass.
 * @returns the outcome, and whether an earlier attempt may have arrived
 */
export async function deliver<T>(
  wire: Wire,
  signal: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<{ outcome: T; repeated: boolean }> {
  const either = linked(wire.closed, signal);
  const backoff = new Backoff();
  try {
    for (let made = 1; ; made++) {
      try {
        return { outcome: await attempt(either.signal), repeated: made > 1 };
      } catch (error) {
        either.signal.throwIfAborted();
        if (!passes(error) || made === ATTEMPTS) throw error;
        await backoff.pause(either.signal, error.retryAfterMs);
        either.signal.throwIfAborted();
      }
    }
  } finally {
    either.release();
  }
}

/** Whether another attempt makes sense, and soon. */
export function passes(error: unknown): error is ClientError {
  return error instanceof ClientError && error.retryable && (error.retryAfterMs ?? 0) <= PATIENCE_MS;
}
