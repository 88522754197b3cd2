import { untilAborted } from '../model/abort.js';

/** Time, timers and new ids. A port, so that tests control them. */
export interface Clock {
  /**
   * The wall clock, in whole milliseconds since the epoch. For times that are stored, shown or compared with such times.
   * It can be set forward or back at any moment, so the difference of two readings is not a duration.
   */
  now(): number;
  /**
   * The monotonic clock, in milliseconds since some moment of this process, with fractions. For ages, timeouts and all
   * other durations. Readings are not comparable between processes.
   */
  monotonic(): number;
  /**
   * Calls `act` once, after a delay by the monotonic clock. The timer keeps the process alive.
   * @returns the function that cancels the timer
   */
  after(milliseconds: number, act: () => void): () => void;
  /**
   * Calls `act` at an interval until canceled. The timer does not keep the process alive.
   * @returns the function that cancels the timer
   */
  every(milliseconds: number, act: () => void): () => void;
  /** Returns a new UUID. */
  newId(): string;
  /** Returns a new UUID that nobody can guess, for an id that grants access. */
  newSecretId(): string;
}

/**
 * Waits for a number of milliseconds.
 * @throws the signal's reason as soon as the signal aborts
 */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  let cancel: (() => void) | undefined;
  const elapsed = new Promise<void>((resolve) => (cancel = clock.after(milliseconds, resolve)));
  try {
    await (signal === undefined ? elapsed : untilAborted(elapsed, signal));
  } finally {
    cancel?.();
  }
}

/**
 * Resolves when the promise resolves, or when the time is over.
 * @throws the rejection of the promise
 */
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
