import type { Outcome } from './batch.js';
import type { Failure } from './failure.js';
import type { Call } from './steps.js';

/** What the main thread tells the writing one. */
export type Request<C = Call> =
  { readonly type: 'run'; readonly calls: readonly C[] } | { readonly type: 'close' };

/** What the writing thread tells the main one. `outcomes` answer the oldest calls, in order. */
export type Reply =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly failure: Failure }
  | { readonly type: 'outcomes'; readonly outcomes: readonly Outcome[] };
