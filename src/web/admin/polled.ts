import { useCallback, useEffect, useRef, useState } from 'react';
import { AdminError } from './api.js';

/** The state of a polled value. */
export interface Polled<T> {
  /** The last value received; undefined before the first. */
  readonly value: T | undefined;
  /** The error of the last attempt. The previous value stays visible. */
  readonly error: AdminError | undefined;
  /** Reads immediately. */
  readonly refresh: () => void;
}

/**
 * Reads a value immediately, and again `everyMs` after each response while the page is visible. Reads immediately when
 * `read` changes.
 */
export function usePolled<T>(read: () => Promise<T>, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<AdminError>();
  const again = useRef<() => void>(() => undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Only the most recent attempt counts.
    let attempt = 0;
    const run = (): void => {
      clearTimeout(timer);
      const mine = ++attempt;
      read()
        .then(
          (result) => {
            if (mine !== attempt) return;
            setValue(result);
            setError(undefined);
          },
          (reason: unknown) => {
            if (mine !== attempt) return;
            setError(reason instanceof AdminError ? reason : new AdminError(String(reason), null));
          },
        )
        .finally(() => {
          if (mine === attempt && !document.hidden) timer = setTimeout(run, everyMs);
        });
    };
    const onShown = (): void => {
      if (!document.hidden) run();
    };
    again.current = run;
    run();
    document.addEventListener('visibilitychange', onShown);
    return () => {
      attempt = -1;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShown);
    };
  }, [read, everyMs]);

  return {
    value,
    error,
    refresh: useCallback(() => {
      again.current();
    }, []),
  };
}
