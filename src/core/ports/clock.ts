import { untilAborted } from '../model/abort.js';

/** Time, timers and new ids, passed in so that a test decides them. */
export interface Clock {
  /**
   * The wall clock, in milliseconds since the epoch. For times that are stored, shown or compared with such times. An
   * administrator or NTP may set it forward or back at any moment, so the difference of two readings is not a length of
   * time.
   */
  now(): number;
  /**
   * The steady clock, in milliseconds since some moment of this process. For ages, timeouts and every other length of
   * time: it only goes forward, and at the pace of real time. Its readings mean nothing to another process.
   */
  monotonic(): number;
  /**
   * Calls `act` once, after so many milliseconds of the steady clock. Returns what cancels it. The process stays up
   * for it.
   */
  after(milliseconds: number, act: () => void): () => void;
  /** Calls `act` again and again, so many milliseconds apart, until cancelled. The process does not stay up for it. */
  every(milliseconds: number, act: () => void): () => void;
  /** A new unique id: a UUID. */
  newId(): string;
}

/** Waits. @throws the signal's reason, at once when it aborts */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  let cancel: (() => void) | undefined;
  const elapsed = new Promise<void>((resolve) => (cancel = clock.after(milliseconds, resolve)));
  try {
    await (signal === undefined ? elapsed : untilAborted(elapsed, signal));
  } finally {
    cancel?.();
  }
}

/** Resolves with the promise, or after so many milliseconds. @throws what the promise is rejected with */
export async function settledWithin(
  clock: Clock,
  promise: Promise<unknown>,
  milliseconds: number,
): Promise<void> {
  let cancel: (() => void) | undefined;
  const elapsed = new Promise<void>((resolve) => (cancel = clock.after(milliseconds, resolve)));
  try {
    await Promise.race([promise, elapsed]);
  } finally {
    cancel?.();
  }
}
