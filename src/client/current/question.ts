import type { InnerEvent } from '../inner-event.js';
import type { Reply } from '../messages.js';
import { randomId } from '../random-id.js';
import { TurnText } from '../turn-text.js';
import type { SessionEvent, SessionState } from '../types.js';

/** One message and the events of its turn. */
export class Question {
  isSent = false;
  /** True when the turn has ended, but its final state was not received. */
  needsState = false;
  #ended: Extract<SessionEvent, { type: 'turn_ended' }> | undefined;
  #turnId: string | undefined;
  /** True when the turn may have ended before the stream was open. */
  mayBeOver: boolean;
  /** True once the stream has sent the start of the turn. */
  hasBegun = false;
  /** The turn whose events the stream is sending. */
  #running: string | undefined;
  #state: SessionState | undefined;
  readonly #turnText = new TurnText();

  /**
   * @param find returns the message's reply in a state; undefined if the state lacks the message
   * @param options `isRepeat`: the message may have been sent before
   */
  constructor(
    private readonly find: (state: SessionState) => Reply | undefined,
    { isRepeat }: { readonly isRepeat: boolean },
  ) {
    this.mayBeOver = isRepeat;
  }

  sent(turnId: string | undefined, repeated: boolean): void {
    this.isSent = true;
    this.#turnId = turnId;
    this.mayBeOver ||= repeated;
  }

  *receive(event: InnerEvent): Generator<SessionEvent> {
    switch (event.type) {
      case 'connection':
        if (event.state === 'lost') this.mayBeOver ||= this.isSent;
        yield event;
        return;
      case 'turn_started':
        this.#running = event.turnId;
        if (this.isSent) this.#turnId ??= event.turnId;
        this.hasBegun ||= event.turnId === this.#turnId;
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
        if (this.hasBegun && this.#state !== undefined) yield* this.conclude(this.#state);
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
    const reply = this.#state && this.find(this.#state);
    if (this.#state?.status === 'processing' && reply !== undefined) yield* this.#turnText.reach(reply.text);
  }

  /** Emits the missing text, the state and the end of the turn. */
  *conclude(state: SessionState): Generator<SessionEvent> {
    const turnId = this.#turnId ?? randomId();
    const reply = this.find(state);
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
    const reply = this.find(state);
    const isOver = state.status !== 'processing';
    const isPassed = !this.hasBegun && reply?.hasBegun === true && this.#running !== undefined;
    if (!this.hasBegun && this.mayBeOver && (isOver || isPassed)) yield* this.conclude(state);
    else if (this.hasBegun && !isOver && reply !== undefined) yield* this.#turnText.reach(reply.text);
  }
}
