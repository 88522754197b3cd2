import { replyOf, replyTo, type Reply } from '../messages.js';
import { linked } from '../pacing.js';
import { randomId } from '../random-id.js';
import type { SendOptions, SessionEvent, SessionState } from '../types.js';
import type { Wire } from '../wire.js';
import type { CurrentCalls } from './calls.js';
import { CurrentFollower } from './follow.js';
import { Question } from './question.js';

/**
 * Sends a message over the current surface and yields the events of its turn, and of no other turn, until it ends.
 * @param options `isRepeat`: the message may have been sent before, by default if it has an idempotency key
 * @param onSent called once the service has stored the message, with the id of its turn if a proxy has left it
 */
export async function* askCurrent(
  wire: Wire,
  calls: CurrentCalls,
  text: string,
  options: SendOptions & { readonly isRepeat?: boolean },
  onSent: (turnId: string | null) => void,
): AsyncGenerator<SessionEvent, void, undefined> {
  const life = linked(wire.closed, options.signal);
  const { signal } = life;
  const key = options.idempotencyKey ?? randomId();
  let ordinal: number | undefined;
  const find = (state: SessionState): Reply | undefined =>
    ordinal === undefined ? replyTo(state, text) : replyOf(state, { ordinal });
  const question = new Question(find, { isRepeat: options.isRepeat ?? options.idempotencyKey !== undefined });
  try {
    for await (const event of new CurrentFollower(calls, signal).run()) {
      if (event.type === 'connection' && event.state === 'open' && !question.isSent) {
        yield event;
        // Sends only after the stream is open, so that no event of the reply is missed.
        const sent = await calls.send(text, key, { ...options, signal });
        ordinal = sent.ordinal;
        question.sent(sent.turnId ?? undefined, sent.repeated);
        onSent(sent.turnId);
        if (!question.mayBeOver) continue;
        for (const shown of question.receive({ type: 'state', state: await calls.state(signal) })) {
          yield shown;
          if (shown.type === 'turn_ended') return;
        }
        continue;
      }
      for (const shown of question.receive(event)) {
        yield shown;
        if (shown.type === 'turn_ended') return;
      }
      if (question.needsState) {
        for (const shown of question.conclude(await calls.state(signal))) yield shown;
        return;
      }
    }
    signal.throwIfAborted();
  } finally {
    life.abort();
    life.release();
  }
}
