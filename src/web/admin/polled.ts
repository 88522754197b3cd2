import { useCallback, useEffect, useRef, useState } from 'react';
import { AdminError } from './api.js';

/** The state of a polled value. */
export interface Polled<T> {
  /**
   * The last value received; undefined before the first. The value of the previous `read` remains until the new one
   * succeeds or fails.
   */
  readonly value: T | undefined;
  /** When the value was received. */
  readonly at: Date | undefined;
  /** True while the value is that of the previous `read`. */
  readonly isOld: boolean;
  /** The error of the last attempt. The previous value of the same `read` stays visible. */
  readonly error: AdminError | undefined;
  /** Reads immediately. */
  readonly refresh: () => void;
}

/**
 * Reads a value immediately, and again `everyMs` after each response while the page is visible. Reads immediately when
 * `read` changes.
 */
export function usePolled<T>(read: () => Promise<T>, everyMs: number): Polled<T> {
  const [last, setLast] = useState<{ readonly value: T; readonly at: Date; readonly read: unknown }>();
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
            setLast({ value: result, at: new Date(), read });
            setError(undefined);
          },
          (reason: unknown) => {
            if (mine !== attempt) return;
            setLast((known) => (known?.read === read ? known : undefined));
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
    value: last?.value,
    at: last?.at,
    isOld: last !== undefined && last.read !== read,
    error,
    refresh: useCallback(() => {
      again.current();
    }, []),
  };
}
