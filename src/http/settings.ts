/** How the HTTP side is set up. */
export interface HttpSettings {
  /** `*`, or the origins that browsers may call from. */
  readonly corsOrigins: string | readonly string[];
  /** Requests a minute per address; 0: no limit. */
  readonly rateLimit: number;
  /** As Express's `trust proxy` setting; false: off. */
  readonly trustProxy: boolean | number | string;
  /** After how many milliseconds of silence a stream gets a comment. */
  readonly keepAliveMs: number;
  /** The version that the health probe shows. */
  readonly version: string;
}
