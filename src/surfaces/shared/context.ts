import type { Core } from '../../core/api.js';
import type { Streams } from '../../http/sse/streams.js';

/** What every surface is made from. */
export interface SurfaceContext {
  readonly core: Core;
  readonly streams: Streams;
  /** What the health probe shows beside the status. */
  readonly about: { readonly version: string; readonly surfaces: readonly string[] };
}
