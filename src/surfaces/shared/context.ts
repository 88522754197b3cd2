import type { Core } from '../../core/api.js';
import type { Streams } from '../../http/sse/streams.js';

/** The dependencies of every surface. */
export interface SurfaceContext {
  readonly core: Core;
  readonly streams: Streams;
  /** The fields of the health probe's response besides `status`. */
  readonly about: { readonly version: string; readonly surfaces: readonly string[] };
}
