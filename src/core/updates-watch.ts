import type { Update } from './core.js';
import type { Signal, TurnEvent } from './event.js';
import type { QueueFeed } from './feed.js';
import type { Message } from './message.js';
import type { Parts } from './parts.js';
import type { RunningTurn } from './running-turn.js';
import type { SessionHead } from './store.js';
import type { Watch } from './streams.js';
import { TurnText } from './turn-text.js';

/** How many events are read at once while catching up. */
const PAGE = 50;
/** How soon after a hole in the text the checkpoint of the turn's owner is looked for, and again. */
const FILL_MS = 250;

/**
 * Follows the logged events of a session by their ids: the next one passes, a known one is dropped, and a hole is filled
 * from the store. So nothing is lost or doubled, whatever happens between a client's cursor, the store and the bus.
 */
export class UpdatesWatch implements Watch {
  #last = 0;
  #highest = 0;
  #isCatchingUp = false;
  readonly #text = new TurnText();
  #isReadingFlight = false;
  #filling: NodeJS.Timeout | undefined;

  constructor(
    readonly sessionId: string,
    private readonly feed: QueueFeed<Update>,
    private readonly parts: Parts,
    private readonly withTurns: boolean,
  ) {}

  /** Shows what runs, then what came after the event `after` (null: nothing of the past), then whatever comes. */
  begin(after: number | null, newest: number, running: RunningTurn | undefined): void {
    this.#last = after ?? newest;
    if (this.withTurns) {
      if (running === undefined) this.#readFlight();
      else this.#showFlight(running.turn, running.messages, running.nextPosition, running.text);
    }
    if (after !== null) this.#catchUp(true);
  }

  hear(signal: Signal): void {
    switch (signal.type) {
      case 'logged':
        this.#logged(signal);
        return;
      case 'turn_started':
        if (!this.withTurns || this.#text.isAt(signal.turnId, signal.attempt)) return;
        this.#text.begin(signal.turnId, signal.attempt);
        this.feed.push(signal);
        return;
      case 'text':
        if (this.withTurns) this.#delta(signal);
        return;
      case 'turn_ended':
        if (!this.withTurns) return;
        if (this.#text.hasHole) this.#showRecords(signal);
        else this.feed.push(signal);
        return;
      case 'tool_called':
      case 'tool_returned':
      case 'session_changed':
      case 'session_deleted':
      case 'missed':
      case 'interrupt':
        return;
    }
    signal satisfies never;
  }

  compare(head: SessionHead): void {
    this.#reach(head.lastEventId);
  }

  cut(): void {
    clearTimeout(this.#filling);
    this.feed.end();
  }

  #logged(signal: Extract<Signal, { type: 'logged' }>): void {
    const { event } = signal;
    if (!this.#isCatchingUp && event.id === this.#last + 1) {
      this.#last = event.id;
      // The signal itself: thousands may watch.
      this.feed.push(signal);
    } else this.#reach(event.id);
  }

  /** There are events up to `id`. */
  #reach(id: number): void {
    this.#highest = Math.max(this.#highest, id);
    if (this.#highest > this.#last) this.#catchUp(false);
  }

  /** Never rejects: what cannot be read now is read at the next signal or comparison. */
  #catchUp(isBeginning: boolean): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#readAll(isBeginning).then(
      () => {
        this.#isCatchingUp = false;
        // Announced after the last read, before it was known to be the last.
        if (this.#highest > this.#last && !this.feed.ended) this.#catchUp(false);
      },
      (error: unknown) => {
        this.#isCatchingUp = false;
        this.parts.log.warn({ err: error }, 'events could not be read for a stream');
      },
    );
  }

  async #readAll(isBeginning: boolean): Promise<void> {
    for (let isFirst = isBeginning; !this.feed.ended; isFirst = false) {
      // The pace is the consumer's: a long replay does not pile up here.
      await this.feed.drained();
      const { events, oldestId, lastId } = await this.parts.store.readEvents(
        this.sessionId,
        this.#last,
        PAGE,
      );
      if (isFirst && this.#last > lastId) {
        this.feed.push({ type: 'gap', from: lastId + 1, to: this.#last });
        this.#last = lastId;
      } else if (this.#last + 1 < oldestId) {
        this.feed.push({ type: 'gap', from: this.#last + 1, to: oldestId - 1 });
        this.#last = oldestId - 1;
      }
      for (const event of events) {
        if (event.id <= this.#last) continue;
        this.#last = event.id;
        this.feed.push({ type: 'logged', event });
      }
      if (events.length === 0 && this.#last >= this.#highest) return;
      if (events.length === 0 && this.#last >= lastId) {
        // The store does not know yet of what was announced; it will be asked again.
        this.#highest = this.#last;
        return;
      }
    }
  }

  #delta(event: Extract<TurnEvent, { type: 'text' }>): void {
    const fresh = this.#text.take(event);
    if (fresh === event) this.feed.push(event);
    else if (fresh !== undefined) this.feed.push(fresh);
    // Something was missed, which can only be of a turn that another node works on.
    else if (this.#text.hasHole) this.#fillSoon();
  }

  #fillSoon(): void {
    this.#filling ??= setTimeout(() => {
      this.#filling = undefined;
      if (this.#text.hasHole) this.#readFlight();
    }, FILL_MS);
  }

  /** Shows the text so far of a turn that runs elsewhere, if one does. Never rejects. */
  #readFlight(): void {
    if (this.#isReadingFlight || this.feed.ended) return;
    this.#isReadingFlight = true;
    this.#fill()
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'the text in flight could not be read for a stream');
      })
      .finally(() => {
        this.#isReadingFlight = false;
        if (this.#text.hasHole) this.#fillSoon();
      });
  }

  async #fill(): Promise<void> {
    const { store } = this.parts;
    const flight = await store.readFlight(this.sessionId);
    // No turn runs: its end has been told, or is on its way.
    if (flight === undefined) this.#text.dropHeld();
    if (flight === undefined || !this.#text.isFilledBy(flight)) return;
    const more = this.#text.advance(flight);
    if (more === undefined) {
      const records = (await store.readTurn(this.sessionId, flight.turnId))?.messages ?? [];
      const before = records.filter(({ position }) => position < flight.position);
      this.#showFlight({ id: flight.turnId, attempt: flight.attempt }, before, flight.position, flight.text);
    } else if (more.content !== '') this.feed.push(more);
    for (const event of this.#text.release()) this.feed.push(event);
  }

  /** The end of a turn of which some text was missed: its records say all. Never rejects. */
  #showRecords(end: Extract<TurnEvent, { type: 'turn_ended' }>): void {
    this.#text.dropHeld();
    this.parts.store
      .readTurn(this.sessionId, end.turnId)
      .then((found) => {
        const records = found?.messages ?? [];
        this.#showFlight({ id: end.turnId, attempt: 0 }, records, records.length, '');
      })
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'a turn could not be read for a stream');
      })
      .finally(() => {
        this.feed.push(end);
      });
  }

  /** One `turn_started`, which voids what was shown of the turn, and one delta with all of its text so far. */
  #showFlight(
    { id: turnId, attempt }: { readonly id: string; readonly attempt: number },
    records: readonly Message[],
    position: number,
    text: string,
  ): void {
    this.#text.begin(turnId, attempt);
    this.#text.skipTo(position, text.length);
    this.feed.push({ type: 'turn_started', turnId, attempt });
    const said = records.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    const content = said.join('') + text;
    if (content !== '') this.feed.push({ type: 'text', turnId, attempt, position, offset: 0, content }, true);
  }
}
