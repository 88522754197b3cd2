import { isLoopbackOrigin } from './loopback.js';

/**
 * The origins that browsers may call from: `*` all, `loopback` the pages of this machine on any port, else those
 * listed.
 */
export type CorsOrigins = '*' | 'loopback' | readonly string[];

/** Whether pages of an origin may call. `null` is the origin of pages that have none of their own. */
export type IsAllowedOrigin = (origin: string) => boolean;

/** Makes the decision of `CORS_ORIGINS`. */
export function originRule(origins: CorsOrigins): IsAllowedOrigin {
  if (origins === '*') return () => true;
  if (origins === 'loopback') return isLoopbackOrigin;
  const listed = new Set(origins);
  return (origin) => listed.has(origin);
}
