import { useCallback, useEffect, useRef, useState } from 'react';
import { AdminError } from './api.js';

/** Something that is read again and again. */
export interface Polled<T> {
  /** The last that came; undefined: nothing yet. */
  readonly value: T | undefined;
  /** Why the last attempt failed; what came before is still shown. */
  readonly error: AdminError | undefined;
  /** Reads at once. */
  readonly refresh: () => void;
}

/** Reads now, and then `everyMs` after each answer while the page is seen. A `read` that changes is read at once. */
export function usePolled<T>(read: () => Promise<T>, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<AdminError>();
  const again = useRef<() => void>(() => undefined);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // The last attempt that began is the one that counts.
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
