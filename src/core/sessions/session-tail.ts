import { shownCount } from '../model/message.js';
import type { StoredTail } from '../ports/tail-store.js';
import { CachedSession } from './cached-session.js';

/** A thread of which no more than its end was read. */
export interface ThreadEnd {
  /** A mirror of the end alone: never kept among those of whole threads. */
  readonly thread: CachedSession;
  /** How many messages a snapshot shows before those of `thread`. */
  readonly skipped: number;
}

/** What a read of the end of a thread found. */
export function endOf(tail: StoredTail, now: number): ThreadEnd {
  const { session, messages, faults } = tail;
  const openIds = new Set(tail.open.map(({ turn }) => turn.id));
  const thread = new CachedSession(session, now);
  const settled = messages.filter(({ turnId }) => !openIds.has(turnId));
  const open = tail.open.map(({ turn, ...partial }) => ({
    turn,
    ...partial,
    messages: messages.filter(({ turnId }) => turnId === turn.id),
  }));
  thread.reset({ session, settled, open, faults }, now);
  return { thread, skipped: tail.shown - messages.reduce((sum, message) => sum + shownCount(message), 0) };
}
