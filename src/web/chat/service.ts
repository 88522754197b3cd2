import { useEffect, useState } from 'react';
import type { SurfaceName } from '../../client/types.js';

/** The base URL of the service: where this page was opened from, whatever path a proxy has put before it. */
export function serviceBase(): string {
  return new URL('.', location.href).href.replace(/\/$/, '');
}

/** How long until the service is asked again what it exposes. */
const RETRY_MS = 2000;

/** The surfaces that the service exposes; null until it has told. */
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

/** While it drains the service answers 503, and still says what it exposes. */
async function readSurfaces(base: string, signal: AbortSignal): Promise<readonly SurfaceName[]> {
  const response = await fetch(`${base}/api/health`, { signal });
  const body: unknown = await response.json();
  const listed = typeof body === 'object' && body !== null && 'surfaces' in body ? body.surfaces : [];
  const names = Array.isArray(listed) ? listed : [];
  const exposed = (['current', 'legacy'] as const).filter((name) => names.includes(name));
  if (exposed.length === 0) throw new Error('The service does not say what it exposes');
  return exposed;
}
