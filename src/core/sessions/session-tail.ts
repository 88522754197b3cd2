import { shownCount } from '../model/message.js';
import type { StoredTail } from '../ports/stored-thread.js';
import { CachedSession } from './cached-session.js';

/** The last messages of a thread that is not cached. */
export interface ThreadEnd {
  /** Holds the end of the thread only. Never put into the session cache, which has whole threads. */
  readonly thread: CachedSession;
  /** How many visible messages come before those of `thread`. */
  readonly skipped: number;
}

/** Builds a thread end from what the store read. */
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
