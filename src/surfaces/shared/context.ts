import type { Request } from 'express';
import type { Core } from '../../core/api.js';
import type { Streams } from '../../http/sse/streams.js';

/** The dependencies of every surface. */
export interface SurfaceContext {
  readonly core: Core;
  readonly streams: Streams;
  /** The fields of the health probe's response besides `status`. */
  readonly about: { readonly version: string; readonly surfaces: readonly string[] };
  /** Absent: the defaults. */
  readonly field?: FieldSettings | undefined;
}

/** The settings of the field surface. */
export interface FieldSettings {
  /** Headers that carry the App key besides those of the other surfaces. */
  readonly keyHeaders: readonly string[];
  /** After how many milliseconds an idle stream may be closed. */
  readonly idleStreamMs: number;
  /** Returns the client address that limits count a request for. */
  readonly addressOf: (req: Request) => string;
}
