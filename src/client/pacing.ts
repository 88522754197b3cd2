const FIRST_MS = 100;
const LAST_MS = 5_000;
/** The longest pause in milliseconds, whatever the service asks for: a timer of more than 24 days would fire at once. */
const LONGEST_MS = 3_600_000;

/** Exponential backoff with jitter, so that clients do not reconnect at the same time. */
export class Backoff {
  #next = FIRST_MS;

  /** Resets the delay after a success. */
  reset(): void {
    this.#next = FIRST_MS;
  }

  /**
   * Waits until the next attempt is due, or until abort.
   * @param atLeastMs minimum delay that the service asked for, in milliseconds
   */
  async pause(signal: AbortSignal, atLeastMs: number | null): Promise<void> {
    const spread = this.#next / 2 + (Math.random() * this.#next) / 2;
    this.#next = Math.min(this.#next * 2, LAST_MS);
    await pause(Math.max(spread, atLeastMs ?? 0), signal);
  }
}

/** Resolves after a delay of at most an hour, or on abort. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(milliseconds, LONGEST_MS));
    signal.addEventListener('abort', done);
  });
}

/** Reads a signal's state through a function, because TypeScript's narrowing ignores changes across an `await`. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A signal that is linked to others until it is released. */
export interface Life {
  readonly signal: AbortSignal;
  readonly abort: (reason?: unknown) => void;
  /** Stops listening to the other signals. */
  readonly release: () => void;
}

/** Creates a signal that aborts with the first of the given ones, until it is released. */
export function linked(...signals: readonly (AbortSignal | undefined)[]): Life {
  const controller = new AbortController();
  const releases = signals.map((signal) => {
    if (signal === undefined) return () => undefined;
    const abort = (): void => {
      controller.abort(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    return () => {
      signal.removeEventListener('abort', abort);
    };
  });
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    release: () => {
      for (const release of releases) release();
    },
  };
}
