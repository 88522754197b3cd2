import type { LoggedEvent, TurnEvent } from './event.js';

/** What a stream of a session's updates carries. */
export type Update =
  | { readonly type: 'logged'; readonly event: LoggedEvent }
  /** A turn runs. For the turn that was shown last: its text so far is void and comes again. */
  | { readonly type: 'turn_started'; readonly turnId: string }
  | Extract<TurnEvent, { readonly type: 'text' | 'turn_ended' }>
  /** Events between these ids, both included, are no longer kept, or never were: read the state. */
  | { readonly type: 'gap'; readonly from: number; readonly to: number };

/**
 * Why a stream ends before its turn does. `replaced`: text that it has shown was made again, differently, by another
 * attempt at the turn.
 */
export type CutReason = 'deleted' | 'draining' | 'replaced';

/** What a stream of one turn carries: it ends with `turn_ended` or with `cut`. */
export type TurnUpdate = TurnEvent | { readonly type: 'cut'; readonly reason: CutReason };
