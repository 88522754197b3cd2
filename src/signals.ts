/** The exit codes of signals that end the process: 128 + the number of the signal. */
export const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type EndingSignal = keyof typeof EXIT_CODES;
export const ENDING_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const satisfies readonly EndingSignal[];

/** Calls `listener` on these signals instead of exiting. Returns the function that removes it. */
export function onSignals<T extends NodeJS.Signals>(
  signals: readonly T[],
  listener: (signal: T) => void,
): () => void {
  const removals = signals.map((signal) => {
    const listen = (): void => {
      listener(signal);
    };
    process.on(signal, listen);
    return () => process.off(signal, listen);
  });
  return () => {
    for (const remove of removals) remove();
  };
}

/**
 * Loads modules, which takes most of the start, and then runs what they make. A signal that nothing else listens to ends
 * the process, also as process 1 of a container, where the kernel discards it unless there is a listener.
 * @param load resolves with a function that adds its listeners before it returns its promise
 */
export async function runLoaded(load: () => Promise<() => Promise<void>>): Promise<void> {
  const release = onSignals(ENDING_SIGNALS, (signal) => {
    if (process.listenerCount(signal) === 1) process.exit(EXIT_CODES[signal]);
  });
  const run = await load();
  const running = run();
  if (process.pid !== 1) release();
  await running;
}
