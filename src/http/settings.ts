import type { CorsOrigins } from './guards/origins.js';

/** Settings of the HTTP server. */
export interface HttpSettings {
  readonly corsOrigins: CorsOrigins;
  /**
   * True when the service listens on a loopback address only. It then refuses requests that address another host or
   * come from a foreign web page.
   */
  readonly isLocal: boolean;
  /** Maximum number of open connections; null: no limit. */
  readonly maxConnections: number | null;
  /** Requests per minute and client address; 0: no limit. */
  readonly rateLimit: number;
  /** Maximum number of open streams per client address; 0: no limit. */
  readonly streamLimit: number;
  /** Express's `trust proxy` setting; false: trust no proxy. */
  readonly trustProxy: boolean | number | string;
  /** Silence in milliseconds after which a stream sends a keep-alive comment. */
  readonly keepAliveMs: number;
  /** The version in the response of the health probe. */
  readonly version: string;
}
