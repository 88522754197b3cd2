import { TurnStopped } from '../model/abort.js';
import type { ClaimedTurn } from '../model/turn.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { RunningTurn } from './running-turn.js';
import { storePatiently } from './store-retry.js';

/**
 * Returns the thread of a claimed turn, as soon as the store is available. An interrupted turn waits for it too, because
 * its end is stored there.
 * @throws TurnStopped when this process must leave the turn, or the turn is over
 */
export function threadOf(
  parts: Parameters<typeof storePatiently>[0] & { readonly threads: SessionCache },
  { signal, turn }: RunningTurn,
): Promise<CachedSession> {
  const read = (): Promise<CachedSession> => {
    const reason: unknown = signal.reason;
    const isLeft = reason instanceof TurnStopped && reason.stop !== 'interrupted';
    return isLeft ? Promise.reject(reason) : readThread(parts.threads, turn);
  };
  return storePatiently(parts, turn.id, read, 'failed to read the thread of a turn, retrying');
}

async function readThread(threads: SessionCache, turn: ClaimedTurn): Promise<CachedSession> {
  const ref = { id: turn.sessionId, ifUnknown: 'refuse' } as const;
  // The commit that claimed the turn was applied to the cached session, or has made it stale.
  const present = threads.peek(turn.sessionId);
  if (present?.stale === false && present.findOpen(turn.id) !== undefined) return present;
  const thread = await threads.openChecked(ref);
  if (thread.findOpen(turn.id) !== undefined) return thread;
  thread.stale = true;
  const reread = await threads.open(ref);
  // It may have ended while the store was unavailable.
  if (reread.findOpen(turn.id) === undefined) throw new TurnStopped('lost');
  return reread;
}
