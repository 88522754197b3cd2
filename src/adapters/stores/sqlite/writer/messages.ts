import type { Outcome } from './batch.js';
import type { Failure } from '../failure.js';
import type { Call } from '../steps.js';

/** What the main thread tells the writing one. */
export type Request<C = Call> =
  { readonly type: 'run'; readonly calls: readonly C[] } | { readonly type: 'close' };

/** What the writing thread tells the main one. `outcomes` answer the oldest calls, in order. */
export type Reply =
  /** The database is open; `identity` is that of its file, `missing` what was expected and is not there. */
  | {
      readonly type: 'ready';
      readonly identity: string | undefined;
      readonly missing: readonly string[];
    }
  | { readonly type: 'refused'; readonly failure: Failure }
  /**
   * The log was removed or replaced: every connection of the process must be closed, and the thread closed and started
   * again.
   */
  | { readonly type: 'log_lost'; readonly failure: Failure }
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] };
