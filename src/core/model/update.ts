import type { LoggedEvent, TurnEvent } from './event.js';

/** An item of a session's update stream. */
export type Update =
  | { readonly type: 'logged'; readonly event: LoggedEvent }
  /** A turn has started. If it is the turn shown last, the text so far is void and will be sent again. */
  | { readonly type: 'turn_started'; readonly turnId: string }
  | Extract<TurnEvent, { readonly type: 'text' | 'turn_ended' }>
  /** The events from `from` to `to`, inclusive, are not available: the client must read the state. */
  | { readonly type: 'gap'; readonly from: number; readonly to: number };

/**
 * Why a stream ends before its turn does. `replaced`: another attempt at the turn has produced a text that differs from
 * what the stream has already sent.
 */
export type CutReason = 'deleted' | 'draining' | 'replaced';

/** An item of one turn's stream. The last item is `turn_ended` or `cut`. */
export type TurnUpdate = TurnEvent | { readonly type: 'cut'; readonly reason: CutReason };
