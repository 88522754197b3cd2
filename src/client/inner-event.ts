import type { Piece } from './live-text.js';
import type { SessionEvent } from './types.js';

/** A session's event, its text with its place in the turn's. */
export type InnerEvent =
  | Exclude<SessionEvent, { readonly type: 'text' }>
  | ({ readonly type: 'text'; readonly turnId: string } & Piece);

/** The event as it is shown. */
export function shown(event: InnerEvent): SessionEvent {
  if (event.type !== 'text') return event;
  const { type, turnId, content } = event;
  return { type, turnId, content };
}
