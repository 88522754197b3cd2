import { useEffect, useState } from 'react';
import type { SurfaceName } from '../../client/types.js';

/** Returns the base URL of the service: the page's own URL, including a path prefix of a proxy. */
export function serviceBase(): string {
  return new URL('.', location.href).href.replace(/\/$/, '');
}

/** Delay before the health probe is read again, in milliseconds. */
const RETRY_MS = 2000;

/** Returns the exposed surfaces; null until known. */
export function useSurfaces(base: string): readonly SurfaceName[] | null {
  const [surfaces, setSurfaces] = useState<readonly SurfaceName[] | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      readSurfaces(base, stop.signal).then(setSurfaces, () => {
        if (!stop.signal.aborted) timer = setTimeout(ask, RETRY_MS);
      });
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [base]);
  return surfaces;
}

/**
 * Reads the exposed surfaces from the health probe, which lists them even in its 503 responses while the service
 * drains.
 */
async function readSurfaces(base: string, signal: AbortSignal): Promise<readonly SurfaceName[]> {
  const response = await fetch(`${base}/api/health`, { signal });
  const body: unknown = await response.json();
  const listed = typeof body === 'object' && body !== null && 'surfaces' in body ? body.surfaces : [];
  const names = Array.isArray(listed) ? listed : [];
  const exposed = (['current', 'legacy'] as const).filter((name) => names.includes(name));
  if (exposed.length === 0) throw new Error('The service did not list its surfaces');
  return exposed;
}
