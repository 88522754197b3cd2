/** Why a turn was stopped from outside. */
export type StopReason =
  | 'interrupted' // somebody asked for it
  | 'timeout' // it took longer than a turn may
  | 'overlong' // its answer grew beyond all measure
  | 'deleted' // its thread is gone
  | 'handover' // the service drains: another process, or this one restarted, goes on
  | 'lost'; // a later attempt has it, or the store could not be reached for so long that one may

/** The reason of a turn's `AbortSignal`. */
export class TurnStopped extends Error {
  override readonly name = 'TurnStopped';

  constructor(readonly stop: StopReason) {
    super(`The turn was stopped: ${stop}`);
  }
}

/** Settles as the promise does, or rejects with the signal's reason if that comes first. */
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

/** The reason of a signal, which may be anything. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
