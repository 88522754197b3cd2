import { useEffect, useState } from 'react';

/** Loads a module when it is first used. Undefined until then, and when it cannot be loaded. */
export function useLoaded<T extends object>(load: () => Promise<T>): T | undefined {
  const [module, setModule] = useState<T | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    load().then(
      (found) => {
        if (!isOver) setModule(() => found);
      },
      // The text is readable without it; the next visit tries again.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [load]);
  return module;
}
