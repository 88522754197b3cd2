const FIRST_MS = 100;
const LAST_MS = 5_000;
/** The longest pause in milliseconds, whatever the service asks for: a timer of more than 24 days would fire at once. */
const LONGEST_MS = 3_600_000;

/**
 * Exponential backoff with jitter, so that clients do not reconnect at the same time. It is reset by an attempt that
 * lasted longer than the maximum delay.
 */
export class Backoff {
  #next = FIRST_MS;
  /** When the current attempt began. */
  #since = performance.now();

  /**
   * Waits until the next attempt is due, or until abort.
   * @param atLeastMs minimum delay that the service asked for, in milliseconds
   */
  async pause(signal: AbortSignal, atLeastMs: number | null): Promise<void> {
    if (performance.now() - this.#since > LAST_MS) this.#next = FIRST_MS;
    const spread = ((1 + Math.random()) * this.#next) / 2;
    this.#next = Math.min(this.#next * 2, LAST_MS);
    await pause(Math.max(spread, atLeastMs ?? 0), signal);
    this.#since = performance.now();
  }
}

/** Resolves after a delay of at most an hour, or on abort. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(milliseconds, LONGEST_MS));
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** Reads a signal's state through a function, because TypeScript's narrowing ignores changes across an `await`. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A signal that aborts with others, or by itself. */
export interface Life {
  readonly signal: AbortSignal;
  /** Also stops following the other signals. Call it in any case once the signal is not needed any more. */
  readonly abort: (reason?: unknown) => void;
}

/** What follows a signal. One listener serves all: Node takes more than ten for a leak, and warns. */
const followers = new WeakMap<AbortSignal, Set<AbortController>>();

/** Creates a signal that aborts with the first of the given ones. */
export function linked(...given: readonly (AbortSignal | undefined)[]): Life {
  const controller = new AbortController();
  const signals = given.filter((signal) => signal !== undefined);
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    followersOf(signal).add(controller);
  }
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
      for (const signal of signals) followersOf(signal).delete(controller);
    },
  };
}

function followersOf(signal: AbortSignal): Set<AbortController> {
  const known = followers.get(signal);
  if (known !== undefined) return known;
  const all = new Set<AbortController>();
  followers.set(signal, all);
  signal.addEventListener('abort', () => {
    for (const controller of all) controller.abort(signal.reason);
  });
  return all;
}
