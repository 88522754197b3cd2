const FIRST_MS = 100;
const LAST_MS = 5_000;

/**
 * How long after each other attempts are made: twice as long each time, with chance in it, so that clients do not come
 * back as one.
 */
export class Backoff {
  #next = FIRST_MS;

  /** It worked: the next failure is the first again. */
  reset(): void {
    this.#next = FIRST_MS;
  }

  /** Resolves when it is time for the next attempt, or on abort. @param atLeastMs what the service asked for */
  async pause(signal: AbortSignal, atLeastMs: number | null): Promise<void> {
    const spread = this.#next / 2 + (Math.random() * this.#next) / 2;
    this.#next = Math.min(this.#next * 2, LAST_MS);
    await pause(Math.max(spread, atLeastMs ?? 0), signal);
  }
}

/** Resolves after so many milliseconds, or on abort. */
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
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}

/** A signal's state can change across an `await`, which narrowing does not know. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A signal of its own, as long as what it is for. */
export interface Life {
  readonly signal: AbortSignal;
  readonly abort: (reason?: unknown) => void;
  /** It listens to no other signal any more. */
  readonly release: () => void;
}

/** Its signal aborts with the first of the given ones, until it is released. */
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
