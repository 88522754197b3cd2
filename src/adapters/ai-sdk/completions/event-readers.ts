/**
 * Parsers of event streams, used again: each is eight functions and what they share, a twentieth of what a stream holds while its turn
 * runs, which the collector copies twice.
 */
import { createParser } from 'eventsource-parser';
import { MAX_EVENT } from '../bounds.js';
import { UpstreamFault } from '../faults.js';

/** So many are kept, for as many answers at once. */
const MAX_SPARE = 1024;

const spare: EventReader[] = [];

/** Who gets the data of events. */
export interface EventTaker {
  /** The data of one event. What it throws, `feed` throws. */
  takeData(data: string): void;
}

/** Reads the events of one answer at a time. */
export class EventReader {
  #taker: EventTaker | undefined;
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      this.#taker?.takeData(data);
    },
    maxBufferSize: MAX_EVENT,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        throw new UpstreamFault('unreadable', { code: 'endless_event' });
    },
  });

  /** One for an answer that begins. Not to be called from within `feed`. */
  static lend(taker: EventTaker): EventReader {
    const reader = spare.pop() ?? new EventReader();
    reader.#parser.reset();
    reader.#taker = taker;
    return reader;
  }

  /** Takes text as it comes. */
  feed(text: string): void {
    this.#parser.feed(text);
  }

  /** The answer is over: what it still says goes to nobody. To be called once, and nothing after it. */
  giveBack(): void {
    this.#taker = undefined;
    if (spare.length < MAX_SPARE) spare.push(this);
  }
}
