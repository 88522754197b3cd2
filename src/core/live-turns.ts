import type { Update } from './core.js';
import type { TurnEvent } from './event.js';
import type { QueueFeed } from './feed.js';
import type { Flight } from './flight.js';
import type { Message } from './message.js';
import type { Parts } from './parts.js';
import type { RunningTurn } from './running-turn.js';
import type { SessionHead } from './store.js';
import { TurnText } from './turn-text.js';

/** How soon after a hole in the text the checkpoint of the turn's owner is looked for, and again. */
const FILL_MS = 250;
/** How many ended turns are remembered, so that late signals of them are known for what they are. */
const MAX_ENDED = 50;

type Started = Extract<TurnEvent, { type: 'turn_started' }>;
type Ended = Extract<TurnEvent, { type: 'turn_ended' }>;

/**
 * Shows the turns of a session to one stream: their beginnings, texts and ends, wherever they are worked on. What the bus loses of a
 * turn elsewhere is made good from the store: a hole in the text by the owner's checkpoint, everything else by its records.
 */
export class LiveTurns {
  readonly #text = new TurnText();
  /** The turn whose end is still to be shown. */
  #shown: string | null = null;
  /** The turn that is worked on here, of which nothing can be missed. */
  #here: RunningTurn | undefined;
  readonly #ended = new Set<string>();
  /** Signals that came while the store was read. */
  readonly #waiting: TurnEvent[] = [];
  #isReading = false;
  #compared = 0;
  #filling: NodeJS.Timeout | undefined;

  /** @param runningHere the turn of this id if this process works on it now */
  constructor(
    private readonly sessionId: string,
    private readonly feed: QueueFeed<Update>,
    private readonly parts: Parts,
    private readonly runningHere: (turnId: string) => RunningTurn | undefined,
  ) {}

  /** Shows what runs now. */
  begin(running: RunningTurn | undefined): void {
    if (running === undefined) {
      this.#read(() => this.#look());
      return;
    }
    const { turn, messages, nextPosition, text } = running;
    this.#here = running;
    this.#showAnew(turn, messages, { position: nextPosition, text });
  }

  hear(event: TurnEvent): void {
    if (this.#isReading) this.#waiting.push(event);
    else this.#take(event);
  }

  /** The session has come so far: whatever the bus has lost is made good. */
  compare({ revision }: SessionHead): void {
    const hasChanged = revision !== this.#compared;
    this.#compared = revision;
    if (this.#shown !== null) this.#here = this.runningHere(this.#shown);
    const isElsewhere = this.#shown === null ? hasChanged : this.#here === undefined;
    if (isElsewhere && !this.#isReading) this.#read(() => this.#look());
  }

  close(): void {
    clearTimeout(this.#filling);
  }

  #take(event: TurnEvent): void {
    if (this.#ended.has(event.turnId)) return;
    switch (event.type) {
      case 'turn_started':
        this.#start(event);
        return;
      case 'text': {
        const fresh = this.#text.take(event);
        if (fresh !== undefined) this.feed.push(fresh);
        // Something was missed, which can only be of a turn that another node works on.
        else if (this.#text.hasHole) this.#fillSoon();
        return;
      }
      case 'turn_ended':
        if (this.#here?.turn.id === event.turnId && this.#here.hasEnded) this.#end(event);
        else this.#read(() => this.#settleInOrder(event));
        return;
      case 'tool_called':
      case 'tool_returned':
        return;
    }
    event satisfies never;
  }

  #start(event: Started): void {
    const { turnId, attempt } = event;
    const before = this.#shown;
    if (before !== null && before !== turnId) {
      this.#read(() => this.#succeed(before, event));
      return;
    }
    this.#here = this.runningHere(turnId);
    this.#shown = turnId;
    if (this.#text.isAt(turnId, attempt)) return;
    this.#text.begin(turnId, attempt);
    this.feed.push(event);
  }

  /**
   * The end of the turn before was missed. While it cannot be read, its successor is not shown either: the next comparison, or the
   * successor's text, has both read. Where it has none, the signal is an old one.
   */
  async #succeed(before: string, event: Started): Promise<void> {
    await this.#settle(before);
    if (this.#shown === null) this.#start(event);
  }

  #end(event: Ended): void {
    // A turn that waited may be cancelled beside the one that is shown, whose end is still to come.
    if (this.#shown === null || this.#shown === event.turnId) {
      this.#text.dropHeld();
      this.#shown = null;
      this.#here = undefined;
    }
    this.#ended.add(event.turnId);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    this.feed.push(event);
  }

  /** Reads, one at a time, and then takes what came meanwhile. Never rejects: what cannot be read now is read at the next occasion. */
  #read(run: () => Promise<void>): void {
    this.#isReading = true;
    run()
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'a turn could not be read for a stream');
      })
      .finally(() => {
        this.#isReading = false;
        this.#takeWaiting();
        if (this.#text.hasHole) this.#fillSoon();
      });
  }

  /** Takes what came during a read, up to what needs another one. */
  #takeWaiting(): void {
    for (
      let event = this.#waiting.shift();
      event !== undefined;
      event = this.#isReading ? undefined : this.#waiting.shift()
    ) {
      this.#take(event);
    }
  }

  #fillSoon(): void {
    if (this.feed.ended) return;
    this.#filling ??= setTimeout(() => {
      this.#filling = undefined;
      if (this.#text.hasHole && !this.#isReading && !this.feed.ended) this.#read(() => this.#look());
    }, FILL_MS);
  }

  /** What runs by the store, and whether what was shown has ended. */
  async #look(): Promise<void> {
    const flight = await this.parts.store.readFlight(this.sessionId);
    const shown = this.#shown;
    if (shown !== null && flight?.turnId !== shown) await this.#settle(shown);
    if (flight === undefined) this.#text.dropHeld();
    if (flight === undefined || this.#ended.has(flight.turnId)) return;
    const here = this.runningHere(flight.turnId);
    if (here === undefined) await this.#fill(flight);
    else if (this.#shown !== flight.turnId) this.begin(here);
  }

  async #fill(flight: Flight): Promise<void> {
    const { turnId, attempt, position, text } = flight;
    if (!this.#text.isFilledBy(flight) || this.#text.isBeyond(flight)) return;
    const more = this.#text.advance(flight);
    if (more === undefined) {
      const found = await this.parts.store.readTurn(this.sessionId, turnId);
      const before = (found?.messages ?? []).filter((message) => message.position < position);
      const isWhole =
        this.#text.isAt(turnId, attempt) && this.#text.total === said(before).length + text.length;
      if (isWhole) this.#text.skipTo(position, text.length, this.#text.total);
      else this.#showAnew({ id: turnId, attempt }, before, { position, text });
    } else if (more.content !== '') this.feed.push(more);
    for (const event of this.#text.release()) this.feed.push(event);
  }

  /**
   * The end of a turn elsewhere: its records tell whether all of its text was shown. While they cannot be read it has not ended here,
   * and the next comparison tries again.
   */
  async #settle(turnId: string, heard?: Ended): Promise<void> {
    const found = await this.parts.store.readTurn(this.sessionId, turnId);
    if (found === undefined || found.turn.status === 'queued' || found.turn.status === 'running') {
      if (heard !== undefined) this.#end(heard);
      return;
    }
    const { messages } = found;
    const isShown = this.#text.isOf(turnId) && this.#text.total === said(messages).length;
    if (!isShown && said(messages) !== '') {
      const attempt = this.#text.isOf(turnId) ? this.#text.attempt : 0;
      this.#showAnew({ id: turnId, attempt }, messages, { position: messages.length, text: '' });
    }
    const { status: outcome, error } = found.turn;
    this.#end(heard ?? { type: 'turn_ended', turnId, outcome, error });
  }

  /** The end of a turn, after that of the one before it, should that have been missed. */
  async #settleInOrder(event: Ended): Promise<void> {
    if (this.#shown !== null && this.#shown !== event.turnId) await this.#settle(this.#shown);
    await this.#settle(event.turnId, event);
  }

  /** One `turn_started`, which voids what was shown of the turn, and one delta with all of its text so far. */
  #showAnew(
    { id: turnId, attempt }: { readonly id: string; readonly attempt: number },
    records: readonly Message[],
    { position, text }: Pick<Flight, 'position' | 'text'>,
  ): void {
    const content = said(records) + text;
    this.#text.begin(turnId, attempt);
    this.#text.skipTo(position, text.length, content.length);
    this.#shown = turnId;
    this.feed.push({ type: 'turn_started', turnId, attempt });
    if (content !== '') this.feed.push({ type: 'text', turnId, attempt, position, offset: 0, content }, true);
  }
}

/** The text of a turn's records. */
function said(records: readonly Message[]): string {
  return records.flatMap(({ role, content }) => (role === 'assistant' ? [content] : [])).join('');
}
