import type { InnerEvent } from '../inner-event.js';
import { replyOf, begunIn, type Reply } from '../messages.js';
import { randomId } from '../random-id.js';
import { TurnText } from '../turn-text.js';
import type { SessionEvent, SessionState, ToolProgress } from '../types.js';

/** One message and the events of its turn. */
export class Question {
  isSent = false;
  /** True when the turn has ended, but its final state was not received. */
  needsState = false;
  #ended: Extract<SessionEvent, { type: 'turn_ended' }> | undefined;
  #turnId: string | undefined;
  /** True once the stream has sent the start of the turn. */
  #hasBegun = false;
  /** The turn whose events the stream is sending. */
  #running: string | undefined;
  /** The last state. */
  #state: SessionState | undefined;
  readonly #turnText = new TurnText();

  /**
   * @param ordinalIn returns the number of the message's turn in a state; undefined if the state lacks the message
   * @param mayBeOver true when the turn may have ended before the stream was open
   */
  constructor(
    private readonly ordinalIn: (state: SessionState) => number | undefined,
    private mayBeOver: boolean,
  ) {}

  sent(turnId: string | undefined, repeated: boolean): void {
    this.isSent = true;
    this.#turnId = turnId;
    this.mayBeOver ||= repeated;
  }

  /**
   * Yields the events of the turn that follow from a received event.
   * @param readState called when the turn has ended, but its final state was not received
   */
  async *follow(event: InnerEvent, readState: () => Promise<SessionState>): AsyncGenerator<SessionEvent> {
    yield* this.#receive(event);
    if (this.needsState) yield* this.#conclude(await readState());
  }

  *#receive(event: InnerEvent): Generator<SessionEvent> {
    switch (event.type) {
      case 'connection':
        if (event.state === 'lost') this.mayBeOver ||= this.isSent;
        yield event;
        return;
      case 'turn_started':
        this.#running = event.turnId;
        if (this.isSent) this.#turnId ??= event.turnId;
        if (event.turnId === this.#turnId) {
          this.#hasBegun = true;
          yield* this.#turnText.begin(event.turnId);
          if (this.#state !== undefined) yield* this.#compare(this.#state);
        } else if (this.isSent && this.mayBeOver && this.#state !== undefined && this.#isPassed(this.#state))
          // Not before a turn starts: a state does not always show which turn is running.
          yield* this.#conclude(this.#state);
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
        if (this.#hasBegun && this.#state !== undefined) yield* this.#conclude(this.#state);
        else this.needsState = true;
        return;
      case 'tool':
        yield* this.#tool(event);
        return;
      case 'title':
      case 'notice':
        yield event;
    }
  }

  /** True if a later turn seems to run in the state, although the stream has not sent the start of this one. */
  #isPassed(state: SessionState): boolean {
    return !this.#hasBegun && begunIn(state) > (this.ordinalIn(state) ?? Infinity);
  }

  #replyIn(state: SessionState): Reply | undefined {
    return replyOf(state, this.ordinalIn(state));
  }

  /** Emits a tool event of the turn; a stream that replays it has not sent the start of the turn yet. */
  *#tool(event: ToolProgress): Generator<SessionEvent> {
    const turnId = event.turnId ?? this.#running ?? this.#turnId;
    if (!this.isSent || turnId !== (this.#turnId ?? turnId)) return;
    if (this.#turnId !== undefined) yield* this.#turnText.begin(this.#turnId);
    yield event;
  }

  /** Emits the missing text, the state and the end of the turn. */
  *#conclude(state: SessionState): Generator<SessionEvent> {
    const turnId = this.#turnId ?? randomId();
    const reply = this.#replyIn(state);
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
    const reply = this.#replyIn(state);
    const isOver = state.status !== 'processing';
    if (!this.#hasBegun && this.mayBeOver && isOver) yield* this.#conclude(state);
    else if (this.#hasBegun && !isOver && reply !== undefined) yield* this.#turnText.reach(reply.text);
  }
}
