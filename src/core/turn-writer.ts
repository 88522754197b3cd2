import { TurnStopped } from './abort.js';
import type { EventBody } from './event.js';
import type { Message } from './message.js';
import { storePatiently } from './patience.js';
import { announce, type Parts } from './parts.js';
import type { RunningTurn } from './running-turn.js';
import type { ActiveThread } from './thread.js';

/** What a running turn stores before its end. */
export class TurnWriter {
  constructor(private readonly parts: Parts) {}

  /** Stores records and events, and shows them once they are stored. */
  async save(
    running: RunningTurn,
    thread: ActiveThread,
    messages: readonly Message[],
    events: readonly EventBody[],
  ): Promise<void> {
    await running.inSequence(async () => {
      running.signal.throwIfAborted();
      const isStep = messages.some(({ id }) => !running.messages.some((known) => known.id === id));
      const progress = { messages, events, partialText: isStep ? '' : null };
      const commit = await storePatiently(this.parts, running.turn.id, () =>
        this.parts.store.saveProgress(running.turn, progress, this.parts.clock.now()),
      );
      if (commit === 'lost') {
        running.stop('lost');
        throw new TurnStopped('lost');
      }
      // In one breath: the text in flight becomes a record, so that no snapshot shows it twice or not at all.
      for (const message of messages) running.put(message);
      if (isStep) running.beginStep();
      thread.apply(commit, () => {
        thread.putMessages(running.turn.id, messages);
      });
      announce(this.parts.bus, running.turn.sessionId, commit);
    });
  }
}
