import type { Store } from '../ports/store.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import { TurnStopped } from '../model/abort.js';
import type { EventBody } from '../model/event.js';
import type { Message } from '../model/message.js';
import { storePatiently } from './store-retry.js';
import { announce, type Bus } from '../ports/bus.js';
import type { RunningTurn } from './running-turn.js';
import type { CachedSession } from '../sessions/cached-session.js';

/** The dependencies of `TurnWriter`. */
export interface TurnWriterParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: CoreSettings;
}

/** Stores the progress of a running turn. */
export class TurnWriter {
  constructor(private readonly parts: TurnWriterParts) {}

  /** Stores messages and events, then updates the cached session and publishes the commit. */
  async save(
    running: RunningTurn,
    thread: CachedSession,
    messages: readonly Message[],
    events: readonly EventBody[],
  ): Promise<void> {
    await running.inSequence(async () => {
      running.signal.throwIfAborted();
      const isStep = messages.some(({ id }) => !running.messages.some((known) => known.id === id));
      const progress = { messages, events, partialText: isStep ? '' : null };
      const at = this.parts.clock.now();
      const before = Math.max(running.lastEventId, thread.session.lastEventId);
      const commit = await storePatiently(this.parts, running.turn.id, (isRepeat) =>
        this.parts.store.saveProgress(
          running.turn,
          isRepeat ? { ...progress, repeatsAfter: before } : progress,
          at,
        ),
      );
      if (commit === 'lost') {
        running.stop('lost');
        throw new TurnStopped('lost');
      }
      running.lastEventId = commit.events.at(-1)?.id ?? running.lastEventId;
      // Synchronous on purpose: a snapshot must not show the text both in flight and as a message, or not at all.
      for (const message of messages) running.put(message);
      if (isStep) running.beginStep();
      thread.apply(commit, () => {
        thread.putMessages(running.turn.id, messages);
      });
      announce(this.parts.bus, running.turn.sessionId, commit);
    });
  }
}
