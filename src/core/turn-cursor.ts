import type { TurnEvent } from './event.js';
import type { Message } from './message.js';

type Text = Extract<TurnEvent, { type: 'text' }>;

/**
 * How far a watcher of a turn has come. Fed with records from the store, or with live events, in any mixture, it lets
 * each character, call and result through once, in order.
 */
export class TurnCursor {
  #attempt: number | null = null;
  /** The attempt whose text in flight was read, where none was heard of. */
  #readAttempt: number | null = null;
  #ended = false;
  /** The ids of the calls that were shown, and of their results: few. */
  readonly #calls: string[] = [];
  readonly #results: string[] = [];
  /** The place of the newest text, how many of its characters were shown, and whether it is known to be stored: a call follows it. */
  #position = -1;
  #length = 0;
  #isStored = false;
  /** Characters shown of the records before it: none, for most turns. */
  #earlier: Map<number, number> | undefined;
  /** Where the next step's record goes, as far as is known: the message has the place 0, and each step is one record. */
  #next = 1;
  /** Text heard beyond a hole, in order. */
  #ahead: Text[] = [];
  /** A call or a result was heard, and not shown: something before it was missed, which the records have, and it as well. */
  #isBehind = false;

  constructor(readonly turnId: string) {}

  get ended(): boolean {
    return this.#ended;
  }

  /** What of these records (in order) was not shown yet, then of the text in flight at `position`, which is of that attempt. */
  *read(
    records: readonly Message[],
    flight?: { readonly attempt: number; readonly position: number; readonly text: string },
  ): Generator<TurnEvent> {
    this.#isBehind = false;
    for (const { role, position, content, toolCalls, toolResults } of records) {
      this.#next = Math.max(this.#next, position + 1);
      if (role !== 'assistant') continue;
      yield* this.#text(position, content);
      const { turnId } = this;
      for (const call of toolCalls ?? [])
        yield* this.#called({ type: 'tool_called', turnId, call, position, length: content.length });
      for (const result of toolResults ?? []) {
        yield* this.#returned({ type: 'tool_returned', turnId: this.turnId, result });
      }
    }
    // A read that began before a new attempt brings the text of the old one.
    if (flight !== undefined && flight.attempt >= (this.#attempt ?? 0)) {
      this.#readAttempt ??= flight.attempt;
      yield* this.#text(flight.position, flight.text);
    }
    yield* this.#catchUp();
  }

  /** True when text is known that what was shown does not reach to: some between was missed. */
  get hasHole(): boolean {
    return this.#ahead.length > 0 || this.#isBehind;
  }

  /** Text that was heard after a hole, once that is filled; what its record has covered is dropped. */
  *#catchUp(): Generator<TurnEvent> {
    const ahead = this.#ahead;
    this.#ahead = [];
    for (const event of ahead) {
      if (event.position < this.#position) continue;
      if (this.#isEarly(event)) this.#ahead.push(event);
      else yield* this.#text(event.position, event.content, event.offset);
    }
  }

  /** What of live text was not shown yet; undefined: nothing. The way of each token: the other events are few. */
  passText(event: Text): Text | undefined {
    if (event.turnId !== this.turnId || this.#ended) return undefined;
    if (event.position < this.#position || event.attempt < (this.#attempt ?? 0)) return undefined;
    const { position, offset, content } = event;
    if (this.#isEarly(event)) {
      this.#ahead.push(event);
      return undefined;
    }
    // All of it is new, as it is for nearly each: it goes on as it is.
    const isNew = offset === this.#shownOf(position) && event.attempt === this.#attempt && content !== '';
    if (!isNew) return this.#fresh(position, content, offset);
    this.#note(position, offset + content.length);
    return event;
  }

  /** What of a live event was not shown yet. */
  *pass(event: TurnEvent): Generator<TurnEvent> {
    if (event.turnId !== this.turnId || this.#ended) return;
    switch (event.type) {
      case 'turn_started':
        if (this.#attempt === event.attempt) return;
        this.#ahead = [];
        this.#attempt = event.attempt;
        yield event;
        return;
      case 'text': {
        const fresh = this.passText(event);
        if (fresh !== undefined) yield fresh;
        return;
      }
      case 'tool_called':
        if (event.length > this.#shownOf(event.position)) this.#isBehind = true;
        else yield* this.#called(event);
        return;
      case 'tool_returned':
        if (!this.#calls.includes(event.result.callId)) {
          this.#isBehind = true;
          return;
        }
        // The last result of a step: the next one is a record further on.
        if (!this.#results.includes(event.result.callId) && this.#calls.length === this.#results.length + 1)
          this.#next++;
        yield* this.#returned(event);
        return;
      case 'turn_ended':
        this.#ended = true;
        yield event;
        return;
    }
    event satisfies never;
  }

  /**
   * Whether something before this text was missed: characters of its step, a whole step, or the result of a call of the step before.
   */
  #isEarly({ position, offset }: Text): boolean {
    if (offset > this.#shownOf(position) || position > this.#next) return true;
    return position > this.#position && this.#calls.length > this.#results.length;
  }

  /** True when a new attempt makes text anew of which some was shown: what was shown cannot be taken back. */
  isContradictedBy(event: TurnEvent): boolean {
    if (event.type !== 'turn_started' || event.turnId !== this.turnId) return false;
    const known = this.#attempt ?? this.#readAttempt;
    const isNew = known !== null && event.attempt > known;
    return isNew && !this.#isStored && this.#length > 0;
  }

  *#text(position: number, content: string, offset = 0): Generator<TurnEvent> {
    const fresh = this.#fresh(position, content, offset);
    if (fresh !== undefined) yield fresh;
  }

  #fresh(position: number, content: string, offset: number): Text | undefined {
    const shown = this.#shownOf(position);
    const fresh = content.slice(shown - offset);
    if (fresh === '') return undefined;
    this.#note(position, offset + content.length);
    const { turnId } = this;
    return { type: 'text', turnId, attempt: this.#attempt ?? 0, position, offset: shown, content: fresh };
  }

  #shownOf(position: number): number {
    return position === this.#position ? this.#length : (this.#earlier?.get(position) ?? 0);
  }

  /** So many characters of the record there were shown. */
  #note(position: number, length: number): void {
    if (position > this.#position) {
      if (this.#position !== -1) this.#noteEarlier(this.#position, this.#length);
      this.#position = position;
      this.#isStored = false;
    }
    if (position === this.#position) this.#length = length;
    else this.#noteEarlier(position, length);
  }

  #noteEarlier(position: number, length: number): void {
    (this.#earlier ??= new Map()).set(position, length);
  }

  *#called(event: Extract<TurnEvent, { type: 'tool_called' }>): Generator<TurnEvent> {
    if (this.#calls.includes(event.call.callId)) return;
    this.#calls.push(event.call.callId);
    this.#isStored = true;
    yield event;
  }

  *#returned(event: Extract<TurnEvent, { type: 'tool_returned' }>): Generator<TurnEvent> {
    if (this.#results.includes(event.result.callId)) return;
    this.#results.push(event.result.callId);
    yield event;
  }
}
