import { ClientError } from './error.js';
import { Backoff, linked } from './pacing.js';
import type { Wire } from './wire.js';

/** Maximum number of attempts to send a message, and the longest requested delay, in milliseconds, between them. */
export const ATTEMPTS = 12;
const PATIENCE_MS = 30_000;

/**
 * Retries until an attempt succeeds or fails permanently.
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
        if (!passesSoon(error) || made === ATTEMPTS) throw error;
        await backoff.pause(either.signal, error.retryAfterMs);
        either.signal.throwIfAborted();
      }
    }
  } finally {
    either.abort();
  }
}

/** True when a retry may succeed, whatever delay the service asked for. */
export function passes(error: unknown): error is ClientError {
  return error instanceof ClientError && error.retryable;
}

/** True when a retry may succeed while a person waits. */
export function passesSoon(error: unknown): error is ClientError {
  return passes(error) && (error.retryAfterMs ?? 0) <= PATIENCE_MS;
}
