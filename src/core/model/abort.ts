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
  const listeners = sources.map((source) => {
    const abort = (): void => {
      controller.abort(source.reason);
    };
    if (source.aborted) abort();
    else source.addEventListener('abort', abort, { once: true });
    return () => {
      source.removeEventListener('abort', abort);
    };
  });
  return {
    signal: controller.signal,
    release: () => {
      for (const remove of listeners) remove();
    },
  };
}

/** Converts the reason of a signal, which may be any value, to an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
