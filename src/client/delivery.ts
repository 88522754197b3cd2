import { ClientError } from './error.js';
import { Backoff, linked } from './pacing.js';
import type { Wire } from './wire.js';

/** Maximum number of attempts to send a message. */
const ATTEMPTS = 12;
/** Maximum `Retry-After` while a person waits, in milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Retries until an attempt succeeds or fails permanently.
 * @param attempt `isRepeat`: an earlier attempt may have arrived
 */
export async function deliver<T>(
  wire: Wire,
  signal: AbortSignal | undefined,
  attempt: (signal: AbortSignal, isRepeat: boolean) => Promise<T>,
): Promise<T> {
  const either = linked(wire.closed, signal);
  const backoff = new Backoff();
  try {
    for (let made = 1; ; made++) {
      try {
        return await attempt(either.signal, made > 1);
      } catch (error) {
        either.signal.throwIfAborted();
        if (!mayRetry(error, false, made)) throw error;
        await backoff.pause(either.signal, error.retryAfterMs);
      }
    }
  } finally {
    either.abort();
  }
}

/**
 * True if the call should be retried.
 * @param isPatient false while a person waits: limits the attempts and the delay between them
 * @param made the number of attempts so far
 */
export function mayRetry(error: unknown, isPatient = true, made = 0): error is ClientError {
  if (!(error instanceof ClientError && error.retryable)) return false;
  return isPatient || (made < ATTEMPTS && (error.retryAfterMs ?? 0) <= PATIENCE_MS);
}
