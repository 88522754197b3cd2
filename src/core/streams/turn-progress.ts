import type { TurnEvent } from '../model/event.js';
import type { Flight } from '../model/flight.js';
import type { Message } from '../model/message.js';

type Text = Extract<TurnEvent, { type: 'text' }>;
type Called = Extract<TurnEvent, { type: 'tool_called' }>;
type Returned = Extract<TurnEvent, { type: 'tool_returned' }>;

/** The state of a turn at one moment, from memory or from the store. */
export interface TurnReading {
  /** Its messages, in order. */
  readonly records: readonly Message[];
  /** The text of the step in flight, if there is one. */
  readonly flight?: Pick<Flight, 'attempt' | 'position' | 'text'> | undefined;
  /** True if the turn has ended, so that no more messages follow. */
  readonly isOver: boolean;
}

/** How many text events are held behind a gap. When there are more, all are dropped: the store has them. */
const MAX_HELD = 1_000;

/**
 * Tracks how much of one turn a stream has shown. It accepts live events and readings in any order, repeatedly, and
 * returns each character, call and result exactly once, in order. It never returns text of one attempt after unfinished
 * text of another.
 *
 * The finished steps of a turn are its messages, whose text never changes. The text in flight after the last message
 * belongs to one attempt; the next attempt generates that step again.
 */
export class TurnProgress {
  /** True if text that was shown is not, or will not be, in the turn's messages: nothing can follow it. */
  isContradicted = false;
  /** The latest attempt whose text may follow what was shown. */
  #attempt = 0;
  /** The step in flight, as the position of its message. The user's message has position 0. */
  #step = 1;
  /** Total text length of the earlier steps. */
  #before = 0;
  /** The text shown of the current step, and whether it is known to be the text of the stored message. */
  #shown = new ShownText();
  #isStored = false;
  /** How many tool results the step still lacks. */
  #pending = 0;
  /** The ids of the calls and of the results that were shown. Arrays, because there are few. */
  readonly #calls: string[] = [];
  readonly #results: string[] = [];
  /** Text events behind a gap, in the order of arrival. */
  #held: Text[] = [];
  #isBehind = false;

  constructor(private readonly turnId: string) {}

  /** True if events were missed, so that a reading is needed. */
  get hasHole(): boolean {
    return this.#isBehind || this.#held.length > 0;
  }

  /** True if everything before the step at `position` was shown, so that only its text can be new. */
  isAt(position: number): boolean {
    return position === this.#step && !this.#isBehind;
  }

  /**
   * Starts an attempt. Returns false when its text cannot follow what was shown: unfinished text of another attempt, or
   * text of a later one.
   */
  begin(attempt: number): boolean {
    const follows = attempt === this.#attempt || (attempt > this.#attempt && !this.#isUnfinished);
    if (follows) this.#accept(attempt);
    return follows;
  }

  /**
   * Returns the part of a live text event that was not shown yet: the event itself if all of it is new, as nearly
   * always.
   */
  takeText(event: Text): Text | undefined {
    const { attempt, position, offset, content } = event;
    if (attempt < this.#attempt || this.#hasRecord(position)) return undefined;
    if (attempt > this.#attempt && position === this.#step) {
      this.isContradicted = this.#isUnfinished && !(offset === 0 && this.#shown.isStartOf(content));
      if (this.isContradicted) return undefined;
      this.#accept(attempt);
    }
    if (position > this.#step || offset > this.#shown.length) {
      this.#hold(event);
      return undefined;
    }
    if (offset < this.#shown.length || content === '')
      return this.#advance(content.slice(this.#shown.length - offset));
    this.#shown.add(content);
    return event;
  }

  /** Returns the events that a live call or result adds. */
  takeTool(event: Called | Returned): TurnEvent[] {
    return event.type === 'tool_called' ? this.#takeCall(event) : this.#takeResult(event);
  }

  /** Returns the events that a reading adds, followed by held text that continues it. */
  read(reading: TurnReading): TurnEvent[] {
    this.isContradicted = this.#isContradictedBy(reading);
    if (this.isContradicted) return [];
    this.#isBehind = false;
    const events = reading.records.flatMap((record) => this.#readRecord(record));
    const { flight } = reading;
    if (flight !== undefined) events.push(...this.#readFlight(flight));
    return [...events, ...this.#release()];
  }

  /** True if text was shown that only the same attempt can continue. */
  get #isUnfinished(): boolean {
    return this.#shown.length > 0 && !this.#isStored;
  }

  /** True if the message at `position` was shown with all of its text. */
  #hasRecord(position: number): boolean {
    return position < this.#step || (position === this.#step && this.#isStored);
  }

  #accept(attempt: number): void {
    if (attempt <= this.#attempt) return;
    this.#attempt = attempt;
    this.#held = this.#held.filter((event) => event.attempt >= attempt);
  }

  #isContradictedBy({ records, flight, isOver }: TurnReading): boolean {
    if (!this.#isUnfinished) return false;
    const record = records.find(({ position }) => position === this.#step);
    if (record !== undefined)
      return !this.#shown.isStartOf(record.role === 'assistant' ? record.content : '');
    if (isOver || records.some(({ position }) => position > this.#step)) return true;
    const isNewer = flight?.position === this.#step && flight.attempt > this.#attempt;
    return isNewer && flight.text !== '' && !this.#shown.isStartOf(flight.text);
  }

  #readRecord({ role, position, content, toolCalls, toolResults }: Message): TurnEvent[] {
    if (position < this.#step) return [];
    if (role !== 'assistant') {
      // A record without text to show, such as the verdict on a wallet request: the next step follows it.
      if (position === this.#step && this.#shown.length === 0) this.#moveTo(position + 1);
      return [];
    }
    if (position > this.#step) this.#moveTo(position);
    const { turnId } = this;
    const text = this.#advance(content.slice(this.#shown.length));
    const events: TurnEvent[] = text === undefined ? [] : [text];
    this.#isStored = true;
    const calls = toolCalls ?? [];
    for (const call of calls.filter(({ callId }) => !this.#calls.includes(callId))) {
      this.#calls.push(call.callId);
      const { length } = content;
      events.push({
        ...{ type: 'tool_called', turnId, attempt: this.#attempt, call },
        ...{ position, length, count: calls.length },
      });
    }
    for (const result of toolResults ?? []) {
      if (this.#results.includes(result.callId)) continue;
      this.#results.push(result.callId);
      events.push({ type: 'tool_returned', turnId, result });
    }
    this.#pending = calls.filter(({ callId }) => !this.#results.includes(callId)).length;
    if (this.#pending === 0) this.#moveTo(position + 1);
    return events;
  }

  #readFlight({ attempt, position, text }: NonNullable<TurnReading['flight']>): TurnEvent[] {
    // The reading is older than the latest attempt or the last message.
    if (attempt < this.#attempt || position > this.#step || this.#hasRecord(position)) return [];
    // An attempt without text cannot follow another's unfinished text yet: it may end up with the same text.
    if (text !== '' || !this.#isUnfinished) this.#accept(attempt);
    const more = this.#advance(text.slice(this.#shown.length));
    return more === undefined ? [] : [more];
  }

  #takeCall(event: Called): TurnEvent[] {
    const { call, attempt, position, length, count } = event;
    if (position < this.#step || this.#calls.includes(call.callId)) return [];
    const isOther = this.#isUnfinished && attempt !== this.#attempt;
    this.#isBehind ||= position > this.#step || length !== this.#shown.length || isOther;
    if (this.#isBehind) return [];
    if (!this.#isStored) this.#pending = count;
    this.#isStored = true;
    this.#calls.push(call.callId);
    return [event];
  }

  #takeResult(event: Returned): TurnEvent[] {
    const { callId } = event.result;
    if (this.#results.includes(callId)) return [];
    if (!this.#calls.includes(callId)) {
      this.#isBehind = true;
      return [];
    }
    this.#results.push(callId);
    this.#pending--;
    if (this.#pending > 0) return [event];
    this.#moveTo(this.#step + 1);
    return [event, ...this.#release()];
  }

  #hold(event: Text): void {
    if (this.#held.length === MAX_HELD) this.#held = [];
    this.#held.push(event);
  }

  #release(): TurnEvent[] {
    const held = this.#held;
    this.#held = [];
    return held.flatMap((event) => (this.isContradicted ? [] : (this.takeText(event) ?? [])));
  }

  /** Extends the text of the current step. Returns the event for it. */
  #advance(content: string): Text | undefined {
    if (content === '') return undefined;
    const offset = this.#shown.length;
    this.#shown.add(content);
    const place = { position: this.#step, offset, before: this.#before };
    return { type: 'text', turnId: this.turnId, attempt: this.#attempt, ...place, content };
  }

  #moveTo(step: number): void {
    this.#before += this.#shown.length;
    this.#step = step;
    this.#shown = new ShownText();
    this.#isStored = false;
    this.#pending = 0;
  }
}

/** The length and a hash of the text that was shown, to compare it with stored text without keeping it. */
class ShownText {
  length = 0;
  #low = 0x811c9dc5;
  #high = 0x9e3779b9;

  add(text: string): void {
    this.length += text.length;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      this.#low = Math.imul(this.#low ^ unit, 0x9e3779b1);
      this.#high = Math.imul(this.#high ^ unit, 0x5f356495);
    }
  }

  isStartOf(text: string): boolean {
    if (text.length < this.length) return false;
    const start = new ShownText();
    start.add(text.slice(0, this.length));
    return start.#low === this.#low && start.#high === this.#high;
  }
}
