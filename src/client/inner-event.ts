import type { Piece } from './live-text.js';
import type { SessionEvent } from './types.js';

/** An event of a session; text has its offset in the turn's text. */
export type InnerEvent =
  | Exclude<SessionEvent, { readonly type: 'text' }>
  | ({ readonly type: 'text'; readonly turnId: string } & Piece);

/** Converts the event to its public form. */
export function shown(event: InnerEvent): SessionEvent {
  if (event.type !== 'text') return event;
  const { type, turnId, content } = event;
  return { type, turnId, content };
}

/** Yields events in their public form, none after an abort. */
export async function* shownUntil(
  signal: AbortSignal,
  events: AsyncIterable<InnerEvent>,
): AsyncGenerator<SessionEvent, void, undefined> {
  for await (const event of events) {
    if (signal.aborted) return;
    yield shown(event);
  }
}
