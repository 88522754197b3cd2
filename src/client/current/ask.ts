import { ordinalOf, turnsIn } from '../messages.js';
import { linked } from '../pacing.js';
import { randomId } from '../random-id.js';
import type { SendOptions, SessionEvent } from '../types.js';
import { wellFormed } from '../well-formed.js';
import type { Wire } from '../wire.js';
import type { CurrentCalls, Sent } from './calls.js';
import { CurrentFollower } from './follow.js';
import { Question } from './question.js';

/**
 * Sends a message over the current surface and yields the events of its turn, and of no other turn, until it ends.
 * @param options `isRepeat`: the message may have been sent before, by default if it has an idempotency key
 * @param onSent called once the service has stored the message
 */
export async function* askCurrent(
  wire: Wire,
  calls: CurrentCalls,
  message: string,
  options: SendOptions & { readonly isRepeat?: boolean },
  onSent: (sent: Sent) => void,
): AsyncGenerator<SessionEvent, void, undefined> {
  const life = linked(wire.closed, options.signal);
  const { signal } = life;
  const text = wellFormed(message);
  const key = options.idempotencyKey ?? randomId();
  let ordinal: number | undefined;
  let before = 0;
  const isRepeat = options.isRepeat ?? options.idempotencyKey !== undefined;
  const question = new Question(({ messages }) => ordinal ?? ordinalOf(messages, text, before));
  try {
    for await (const event of new CurrentFollower(calls, signal, {
      isPatient: () => question.isSent,
      async onOpen() {
        if (question.mayBeOver) question.recorded(await calls.recent(signal));
      },
    }).run()) {
      signal.throwIfAborted();
      // Another client may send the same text after this message, but hardly before it.
      if (!question.isSent && event.type === 'state') before = turnsIn(event.state.messages);
      for (const shown of question.receive(event)) {
        yield shown;
        if (shown.type === 'turn_ended') return;
      }
      if (!question.isSent && event.type === 'connection' && event.state === 'open') {
        // Sends only after the stream is open, so that no event of the reply is missed.
        const sent = await calls.send(text, key, { ...options, signal });
        ordinal = sent.ordinal;
        question.sent(sent.turnId ?? undefined, isRepeat || sent.repeated);
        onSent(sent);
      }
    }
    signal.throwIfAborted();
  } finally {
    life.abort();
  }
}
