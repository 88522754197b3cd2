import { shownUntil, type InnerEvent } from '../inner-event.js';
import { linked } from '../pacing.js';
import { Queue } from '../queue.js';
import type { SessionEvent } from '../types.js';
import type { Wire } from '../wire.js';
import type { LegacyCalls } from './calls.js';
import { LegacyFollower } from './follow.js';
import type { Report } from './turn.js';

/** Callbacks that read the state now. */
export type Nudges = Set<() => void>;

/** Yields the events of a session over the legacy surface. */
export async function* watchLegacy(
  wire: Wire,
  calls: LegacyCalls,
  { listeners, nudges }: { readonly listeners: Set<Report>; readonly nudges: Nudges },
  signal: AbortSignal,
): AsyncGenerator<SessionEvent, void, undefined> {
  const life = linked(wire.closed, signal);
  const queue = new Queue<InnerEvent>();
  const watch = new LegacyFollower(calls, life.signal, queue);
  const listen: Report = (...step) => {
    watch.receiveOwn(...step);
  };
  const close = (): void => {
    queue.close();
  };
  const nudge = (): void => {
    watch.pollNow();
  };
  listeners.add(listen);
  nudges.add(nudge);
  life.signal.addEventListener('abort', close);
  if (life.signal.aborted) close();
  try {
    watch.start();
    yield* shownUntil(life.signal, queue);
  } finally {
    listeners.delete(listen);
    nudges.delete(nudge);
    life.abort();
  }
}
