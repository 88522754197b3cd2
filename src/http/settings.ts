import type { CorsOrigins } from './guards/origins.js';

/** How the HTTP side is set up. */
export interface HttpSettings {
  readonly corsOrigins: CorsOrigins;
  /**
   * True when the service listens on a loopback address alone: requests for other hosts or from foreign pages are then
   * refused.
   */
  readonly isLocal: boolean;
  /** How many connections may be open at a time; null: no limit. */
  readonly maxConnections: number | null;
  /** Requests a minute per address; 0: no limit. */
  readonly rateLimit: number;
  /** How many streams one address may have open; 0: no limit. */
  readonly streamLimit: number;
  /** As Express's `trust proxy` setting; false: off. */
  readonly trustProxy: boolean | number | string;
  /** After how many milliseconds of silence a stream gets a comment. */
  readonly keepAliveMs: number;
  /** The version that the health probe shows. */
  readonly version: string;
}
