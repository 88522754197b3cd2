import { failuresIn, shownIn } from '../model/message.js';
import type { StoredTail } from '../ports/stored-thread.js';
import { CachedSession } from './cached-session.js';

/** Builds a session with the end of its thread from what the store read. It is not complete enough to be cached. */
export function endOf(tail: StoredTail, now: number): CachedSession {
  const { session, messages, faults } = tail;
  const openIds = new Set(tail.open.map(({ turn }) => turn.id));
  const thread = new CachedSession(session, now);
  const settled = messages.filter(({ turnId }) => !openIds.has(turnId));
  const open = tail.open.map(({ turn, ...partial }) => ({
    turn,
    ...partial,
    messages: messages.filter(({ turnId }) => turnId === turn.id),
  }));
  const skipped = tail.shown - shownIn(messages);
  const skippedFailures = tail.failures - failuresIn(messages);
  thread.reset({ session, settled, skipped, skippedFailures, continues: false, open, faults }, now);
  return thread;
}
