import type { InnerEvent } from '../inner-event.js';
import { replyOf } from '../messages.js';
import { randomId } from '../random-id.js';
import { TurnText } from '../turn-text.js';
import type { HistoryPage, SessionEvent, SessionState, ToolProgress } from '../types.js';
import { outcomeOf } from './follow.js';

/** One message and the events of its turn. */
export class Question {
  isSent = false;
  /** True when the turn may have ended before the stream was open, until its record was read. */
  mayBeOver = false;
  #ended: Extract<SessionEvent, { type: 'turn_ended' }> | undefined;
  #turnId: string | undefined;
  /** The turn whose events the stream is sending. */
  #running: string | undefined;
  /** The last state. */
  #state: SessionState | undefined;
  readonly #turnText = new TurnText();

  /** @param ordinalIn returns the number of the message's turn in a state; undefined if the state lacks the message */
  constructor(private readonly ordinalIn: (state: SessionState) => number | undefined) {}

  /** @param isRepeat true if the message may have been sent before */
  sent(turnId: string | undefined, isRepeat: boolean): void {
    this.isSent = true;
    this.#turnId = turnId;
    this.mayBeOver = isRepeat;
  }

  /** Processes the record of the turn as it was stored after the stream was opened. */
  recorded({ turns }: HistoryPage): void {
    const turn = turns.find(({ turnId }) => turnId === this.#turnId);
    if (turn === undefined) return;
    this.mayBeOver = false;
    const { turnId, error } = turn;
    // The stream sends the end of a turn that has not ended.
    if (turn.endedAt !== null)
      this.#ended = {
        ...{ type: 'turn_ended', turnId, status: outcomeOf(turn.status) },
        ...(error !== null && { error }),
      };
  }

  /** Yields the events of the turn that follow from a received event. */
  *receive(event: InnerEvent): Generator<SessionEvent> {
    switch (event.type) {
      case 'connection':
        if (event.state === 'lost') this.mayBeOver = this.isSent;
        yield event;
        return;
      case 'turn_started':
        this.#running = event.turnId;
        if (this.isSent) this.#turnId ??= event.turnId;
        if (event.turnId === this.#turnId) yield* this.#turnText.begin(event.turnId);
        return;
      case 'text':
        if (event.turnId === this.#turnId) yield* this.#turnText.add(event);
        return;
      case 'state':
        this.#state = event.state;
        // The state was read after the record. Without a record, no running turn means that this one has ended.
        if (this.#ended ?? (this.mayBeOver && event.state.status !== 'processing'))
          yield* this.#conclude(event.state);
        else yield* this.#reach(event.state);
        return;
      case 'turn_ended':
        this.#running = undefined;
        if (event.turnId !== this.#turnId || this.#state === undefined) return;
        this.#ended = event;
        yield* this.#conclude(this.#state);
        return;
      case 'tool':
        yield* this.#tool(event);
        return;
      case 'title':
      case 'notice':
        yield event;
    }
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
    yield* this.#turnText.begin(turnId);
    const error = yield* this.#reach(state);
    yield { type: 'state', state };
    const failed = error !== undefined && { status: 'failed' as const, error };
    yield this.#ended ?? { type: 'turn_ended', turnId, status: 'complete', ...failed };
  }

  /**
   * Emits the missing text of the reply.
   * @returns the reason of a failure
   */
  *#reach(state: SessionState): Generator<SessionEvent, string | undefined> {
    const reply = replyOf(state, this.ordinalIn(state));
    if (reply !== undefined) yield* this.#turnText.reach(reply.text);
    return reply?.failure;
  }
}
