import type { IncomingHttpHeaders } from 'node:http';

/** Returns the App key of a request as sent; undefined: none. */
export type ReadKey = (headers: IncomingHttpHeaders) => string | undefined;

/** The header of the App key on the current surface. */
export const CURRENT_KEY_HEADER = 'SERVICE-APP-KEY';

/** The header of the App key on the legacy surface. */
export const LEGACY_KEY_HEADER = 'X-API-Key';

/**
 * Creates a reader of the App key. The first header that is not blank counts. `Authorization` carries it as a bearer
 * token (RFC 6750).
 * @param names header names in any case, in order of precedence
 */
export function keyReader(names: readonly string[]): ReadKey {
  const lower = names.map((name) => name.toLowerCase());
  return (headers) => {
    for (const name of lower) {
      const value = headers[name];
      if (typeof value !== 'string') continue;
      const key = name === 'authorization' ? value.replace(/^bearer\s+/i, '') : value;
      if (key.trim() !== '') return key;
    }
    return undefined;
  };
}
