import type { RequestHandler } from 'express';

const ALLOWED = 'Access-Control-Allow-Headers';

/** Request headers that browser clients of the field surface send besides those of the other surfaces. */
const FIELD_HEADERS = ['Authorization', 'X-Thread-Id', 'Cache-Control'];

/**
 * Creates a handler that adds to the allowed headers of a preflight response (the CORS protocol of the Fetch Standard).
 * @param keyHeaders further headers that carry the App key
 */
export function allowFieldHeaders(keyHeaders: readonly string[]): RequestHandler {
  return ({ method }, res, next) => {
    const allowed = method === 'OPTIONS' ? res.getHeader(ALLOWED) : undefined;
    if (typeof allowed === 'string') {
      // Header names are case-insensitive; the first spelling stays.
      const names = new Map<string, string>();
      for (const name of [...allowed.split(','), ...FIELD_HEADERS, ...keyHeaders])
        if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
      res.setHeader(ALLOWED, [...names.values()].join(','));
    }
    next();
  };
}
