import type { Outcome } from './batch.js';
import type { Failure } from '../failure.js';
import type { Call } from '../steps.js';

/** A message from the main thread to the writer thread. */
export type Request<C = Call> =
  { readonly type: 'run'; readonly calls: readonly C[] } | { readonly type: 'close' };

/** A message from the writer thread to the main thread. */
export type Reply =
  /** The database is open. `identity` is that of its file; `missing` describes lost data. */
  | {
      readonly type: 'ready';
      readonly identity: string | undefined;
      readonly missing: readonly string[];
    }
  | { readonly type: 'refused'; readonly failure: Failure }
  /**
   * The log was removed or replaced: the main thread must close all connections of the process, then restart the writer
   * thread.
   */
  | { readonly type: 'log_lost'; readonly failure: Failure }
  /** The outcomes of the oldest pending calls, in order. */
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] };
