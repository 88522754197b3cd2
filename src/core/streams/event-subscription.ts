import type { Log } from '../ports/log.js';
import type { CutReason, Update } from '../model/update.js';
import { isTurnEvent, type Signal } from '../model/event.js';
import type { QueueFeed } from './queue-feed.js';
import type { SessionTurns } from './session-turns.js';
import type { SessionHead, Store } from '../ports/store.js';
import type { Watch } from './watch.js';

/** How many events are read per query while catching up. */
const PAGE = 50;

/** The dependencies of `EventSubscription`. */
export interface EventSource {
  readonly store: Store;
  readonly log: Log;
}

/**
 * Follows the logged events of a session by their ids: the next one is forwarded, a known one is dropped, and a gap is
 * filled from the store. So no event is lost or duplicated between the client's cursor, the store and the bus. When the
 * store has lost events, the stream gets a `gap` and continues with the events that the store has.
 */
export class EventSubscription implements Watch {
  #last = 0;
  /** The time of the event `#last`, to tell it from a lost one with the same id. Undefined: it was not shown here. */
  #lastAt: number | undefined;
  #highest = 0;
  #isCatchingUp = false;
  #hasBegun = false;
  /** True once the replay is complete and turns are shown. */
  #showsTurns = false;
  /** Turns that ended during the replay. An array, because there are few. */
  #endedBefore: string[] = [];

  constructor(
    readonly sessionId: string,
    private readonly feed: QueueFeed<Update>,
    private readonly parts: EventSource,
    /** Shows turns in the same feed; null: the client did not request them. */
    private readonly turns: SessionTurns | null,
  ) {}

  /** Replays the events after `after` (null: none), then shows the running turn, then live events. */
  begin(after: number | null, newest: number): void {
    this.#hasBegun = true;
    this.#last = after ?? newest;
    if (after !== null) this.#catchUp();
    else {
      this.#beginTurns();
      this.#reach(newest);
    }
  }

  receive(signal: Signal): void {
    if (signal.type === 'logged') this.#logged(signal);
    else if (!isTurnEvent(signal)) return;
    else if (this.#showsTurns) this.turns?.receive(signal);
    else if (this.#hasBegun && signal.type === 'turn_ended') this.#endedBefore.push(signal.turnId);
  }

  compare(head: SessionHead): void {
    // Either the head was read before the last event was logged, or the store has lost events.
    if (this.#hasBegun && head.lastEventId < this.#last) this.#catchUp();
    else this.#reach(head.lastEventId);
    if (this.#showsTurns) this.turns?.compare(head);
    else if (this.#hasBegun) this.#catchUp();
  }

  cut(reason: CutReason): void {
    if (reason === 'deleted') this.turns?.deleted();
    this.feed.end();
  }

  close(): void {
    this.turns?.close();
  }

  #beginTurns(): void {
    if (this.#showsTurns) return;
    this.#showsTurns = true;
    this.turns?.begin(this.#endedBefore);
    this.#endedBefore = [];
  }

  #logged(signal: Extract<Signal, { type: 'logged' }>): void {
    const { event } = signal;
    if (this.#hasBegun && !this.#isCatchingUp && event.id === this.#last + 1) {
      this.#moveTo(event.id, event.at);
      // Forwards the same object to all streams: there may be thousands.
      this.feed.push(signal);
    } else if (this.#hasBegun && event.id <= this.#last && event.at !== this.#lastAt) {
      // Either the signal is late, or the store has lost events and assigns their ids again.
      this.#catchUp();
    } else this.#reach(event.id);
  }

  /** Continues after an event. @param at its time, if it was shown */
  #moveTo(id: number, at?: number): void {
    this.#last = id;
    this.#lastAt = at;
  }

  /** Records that events up to `id` exist and fetches missing ones. Before `begin`, it only records the id. */
  #reach(id: number): void {
    this.#highest = Math.max(this.#highest, id);
    if (this.#hasBegun && this.#highest > this.#last) this.#catchUp();
  }

  /** Reads missing events. Never throws: a failed read is repeated at the next signal or comparison. */
  #catchUp(): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#readAll().then(
      () => {
        this.#isCatchingUp = false;
        this.#beginTurns();
        // An event may have been announced after the last read.
        if (this.#highest > this.#last && !this.feed.ended) this.#catchUp();
      },
      (error: unknown) => {
        this.#isCatchingUp = false;
        this.parts.log.warn({ err: error }, 'failed to read events for a stream');
      },
    );
  }

  async #readAll(): Promise<void> {
    while (!this.feed.ended) {
      // Does not read ahead of the consumer.
      await this.feed.drained();
      const announced = this.#highest;
      // Reads the last event again if it was shown here, to see whether it is still the same.
      const after = this.#lastAt === undefined ? this.#last : this.#last - 1;
      const page = await this.parts.store.readEvents(this.sessionId, after, PAGE);
      const { oldestId, lastId } = page;
      const [again] = page.events;
      if (this.#last > lastId || (again?.id === this.#last && again.at !== this.#lastAt)) {
        // The client's cursor is ahead of the store, or the store has lost events.
        const from = Math.min(lastId + 1, this.#last);
        this.feed.push({ type: 'gap', from, to: this.#last });
        this.#moveTo(from - 1);
      } else if (this.#last + 1 < oldestId) {
        this.feed.push({ type: 'gap', from: this.#last + 1, to: oldestId - 1 });
        this.#moveTo(oldestId - 1);
      }
      const events = page.events.filter(({ id }) => id > this.#last);
      for (const event of events) {
        // A page may be larger than the queue: the results of tools are long.
        await this.feed.drained();
        this.#moveTo(event.id, event.at);
        this.feed.push({ type: 'logged', event });
      }
      if (events.length === 0 && this.#last >= this.#highest) return;
      // An event that was announced during the read may have been stored after it: then read again.
      if (events.length === 0 && this.#last >= lastId && announced === this.#highest) {
        // The store does not have the announced event yet. The next signal or comparison triggers another read.
        this.#highest = this.#last;
        return;
      }
    }
  }
}
