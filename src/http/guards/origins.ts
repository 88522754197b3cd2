import { isLoopbackOrigin } from './loopback.js';

/**
 * The origins that browsers may call from: `*` all, `loopback` pages of this machine on any port, else the listed ones.
 */
export type CorsOrigins = '*' | 'loopback' | readonly string[];

/** True when pages of an origin may call the service. `null` is the opaque origin of pages without one of their own. */
export type IsAllowedOrigin = (origin: string) => boolean;

/** Creates the rule for the `CORS_ORIGINS` setting. */
export function originRule(origins: CorsOrigins): IsAllowedOrigin {
  if (origins === '*') return () => true;
  if (origins === 'loopback') return isLoopbackOrigin;
  const listed = new Set(origins);
  return (origin) => listed.has(origin);
}
