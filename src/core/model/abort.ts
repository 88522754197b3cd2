/** Why a turn was stopped from outside. */
export type StopReason =
  | 'interrupted' // a client requested it
  | 'timeout' // it exceeded the time limit of a turn
  | 'overlong' // the model's response exceeded the size limit
  | 'deleted' // its session was deleted
  | 'handover' // this process drains: another process, or this one after a restart, continues the turn
  | 'lost'; // a later attempt owns it, or may own it: the store was unreachable for longer than a lease

/** The reason of a turn's `AbortSignal`. */
export class TurnStopped extends Error {
  override readonly name = 'TurnStopped';

  constructor(readonly stop: StopReason) {
    super(`The turn was stopped: ${stop}`);
  }
}

/** Settles like the promise, or rejects with the signal's reason if the signal aborts first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      reject(asError(signal.reason));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void promise.then(resolve, reject).then(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** A signal that aborts with the first of its sources. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners from the sources. To be called when the work that `signal` is for has ended. */
  readonly release: () => void;
}

/**
 * Links a new signal to several sources. Replaces `AbortSignal.any`, which keeps a reference on each source for as long
 * as the source lives: a source that lives as long as the process then leaks memory with every call.
 */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  for (const source of sources) {
    if (source.aborted) controller.abort(source.reason);
    else followersOf(source).add(controller);
  }
  return {
    signal: controller.signal,
    release: () => {
      for (const source of sources) followersOf(source).delete(controller);
    },
  };
}

/** What aborts with a signal. One listener serves all: Node takes more than ten for a leak, and warns. */
class Followers {
  readonly #controllers = new Set<AbortController>();

  constructor(private readonly source: AbortSignal) {}

  add(controller: AbortController): void {
    if (this.#controllers.size === 0) this.source.addEventListener('abort', this.#abort, { once: true });
    this.#controllers.add(controller);
  }

  delete(controller: AbortController): void {
    this.#controllers.delete(controller);
    if (this.#controllers.size === 0) this.source.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    for (const controller of this.#controllers) controller.abort(this.source.reason);
  };
}

const followers = new WeakMap<AbortSignal, Followers>();

function followersOf(source: AbortSignal): Followers {
  const known = followers.get(source) ?? new Followers(source);
  followers.set(source, known);
  return known;
}

/** Converts the reason of a signal, which may be any value, to an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
