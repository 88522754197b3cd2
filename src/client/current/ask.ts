import { ClientError } from '../error.js';
import type { InnerEvent } from '../inner-event.js';
import { replyTo } from '../messages.js';
import { linked } from '../pacing.js';
import { randomId } from '../random-id.js';
import { TurnText } from '../turn-text.js';
import type { SendOptions, SessionEvent, SessionState } from '../types.js';
import type { Wire } from '../wire.js';
import type { CurrentCalls } from './calls.js';
import { CurrentFollower } from './follow.js';

/** Sends a message over the current surface and yields the events of its turn, and of no other turn, until it ends. */
export async function* askCurrent(
  wire: Wire,
  calls: CurrentCalls,
  text: string,
  options: SendOptions,
  onSent: () => void,
): AsyncGenerator<SessionEvent, void, undefined> {
  const life = linked(wire.closed, options.signal);
  const { signal } = life;
  const key = options.idempotencyKey ?? randomId();
  const question = new Question(text, options.idempotencyKey !== undefined);
  try {
    for await (const event of new CurrentFollower(calls, signal).run()) {
      if (event.type === 'connection' && event.state === 'open' && !question.isSent) {
        yield event;
        // Sends only after the stream is open, so that no event of the reply is missed.
        const sent = await calls.send(text, key, { ...options, signal });
        question.sent(sent.turnId ?? undefined, sent.repeated);
        onSent();
        if (!question.mayBeOver) continue;
        const snapshot = await calls.snapshot({ signal });
        for (const shown of snapshot === undefined
          ? []
          : question.hear({ type: 'state', state: snapshot.state })) {
          yield shown;
          if (shown.type === 'turn_ended') return;
        }
        continue;
      }
      for (const shown of question.hear(event)) {
        yield shown;
        if (shown.type === 'turn_ended') return;
      }
      if (question.needsState) {
        const state = (await calls.snapshot({ signal }))?.state;
        if (state === undefined) throw new ClientError('unreachable', 'The service did not return its state');
        for (const shown of question.conclude(state)) yield shown;
        return;
      }
    }
    signal.throwIfAborted();
  } finally {
    life.abort();
    life.release();
  }
}

/** One message and the events of its turn. */
class Question {
  isSent = false;
  /** True when the turn has ended, but its final state was not received. */
  needsState = false;
  #ended: Extract<SessionEvent, { type: 'turn_ended' }> | undefined;
  #turnId: string | undefined;
  /** True when the turn may have ended before the stream was open. */
  mayBeOver: boolean;
  /** The turn whose events the stream is sending. */
  #running: string | undefined;
  #hasBegun = false;
  #state: SessionState | undefined;
  readonly #turnText = new TurnText();

  constructor(
    private readonly text: string,
    isRepeat: boolean,
  ) {
    this.mayBeOver = isRepeat;
  }

  sent(turnId: string | undefined, repeated: boolean): void {
    this.isSent = true;
    this.#turnId = turnId;
    this.mayBeOver ||= repeated;
  }

  *hear(event: InnerEvent): Generator<SessionEvent> {
    switch (event.type) {
      case 'connection':
        if (event.state === 'lost') this.mayBeOver ||= this.isSent;
        yield event;
        return;
      case 'turn_started':
        this.#running = event.turnId;
        if (this.isSent) this.#turnId ??= event.turnId;
        this.#hasBegun ||= event.turnId === this.#turnId;
        if (event.turnId === this.#turnId) yield* this.#begin(event.turnId);
        return;
      case 'text':
        if (event.turnId === this.#turnId) yield* this.#turnText.add(event);
        return;
      case 'state':
        this.#state = event.state;
        yield* this.#compare(event.state);
        return;
      case 'turn_ended':
        this.#running = undefined;
        if (event.turnId !== this.#turnId) return;
        this.#ended = event;
        if (this.#hasBegun && this.#state !== undefined) yield* this.conclude(this.#state);
        else this.needsState = true;
        return;
      case 'tool':
        if (this.isSent && (this.#running === undefined || this.#running === this.#turnId)) yield event;
        return;
      case 'title':
      case 'notice':
        yield event;
    }
  }

  /** Begins the turn, and emits the text that the last state already has of it. */
  *#begin(turnId: string): Generator<SessionEvent> {
    yield* this.#turnText.begin(turnId);
    const reply = this.#state && replyTo(this.#state, this.text);
    if (this.#state?.status === 'processing' && reply !== undefined) yield* this.#turnText.reach(reply.text);
  }

  /** Emits the missing text, the state and the end of the turn. */
  *conclude(state: SessionState): Generator<SessionEvent> {
    const turnId = this.#turnId ?? 'unknown';
    const reply = replyTo(state, this.text);
    yield* this.#turnText.begin(turnId);
    if (reply !== undefined) yield* this.#turnText.reach(reply.text);
    yield { type: 'state', state };
    const failed = reply?.failure === undefined ? {} : { status: 'failed' as const, error: reply.failure };
    yield this.#ended ?? { type: 'turn_ended', turnId, status: 'complete', ...failed };
  }

  /**
   * Compares the reply with a state, which may show more text, or that the turn ended while the connection was lost.
   */
  *#compare(state: SessionState): Generator<SessionEvent> {
    if (!this.isSent) return;
    const reply = replyTo(state, this.text);
    const isOver = state.status !== 'processing';
    const isPassed = !this.#hasBegun && reply?.hasBegun === true && this.#running !== undefined;
    if (!this.#hasBegun && this.mayBeOver && (isOver || isPassed)) yield* this.conclude(state);
    else if (this.#hasBegun && !isOver && reply !== undefined) yield* this.#turnText.reach(reply.text);
  }
}
