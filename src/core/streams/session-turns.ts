import type { Update } from '../model/update.js';
import type { TurnEvent } from '../model/event.js';
import type { QueueFeed } from './queue-feed.js';
import type { SessionHead } from '../ports/store.js';
import { TurnFollower, type TurnSource, type TurnView } from './turn-follower.js';

/** How many ended turns are remembered, to recognize late signals of them. */
const MAX_ENDED = 50;

/**
 * Shows the turns of a session to one stream, one after the other: each starts, has its text, and ends before the next
 * one starts. Turns that were canceled in the queue also start and end, after the turn that they were waiting for.
 */
export class SessionTurns implements TurnView {
  /** Follows the turn that has started and not ended on the stream. */
  #current: TurnFollower | undefined;
  /** Turns with signals that arrived while an earlier turn was shown. */
  readonly #later = new Set<string>();
  readonly #ended = new Set<string>();
  #isLooking = false;
  #isClosed = false;
  /** The store's revision at the last comparison. */
  #compared = 0;

  constructor(
    private readonly sessionId: string,
    private readonly feed: QueueFeed<Update>,
    private readonly source: TurnSource,
  ) {}

  /** Shows turns that have just ended, then the running one. */
  begin(ended: Iterable<string>): void {
    for (const turnId of ended) this.#later.add(turnId);
    this.#goOn();
    if (this.#current === undefined) this.#look();
  }

  receive(event: TurnEvent): void {
    const { turnId } = event;
    if (this.#isClosed || this.#ended.has(turnId)) return;
    if (this.#current === undefined) this.#follow(turnId, event);
    else if (this.#current.turnId === turnId) this.#current.receive(event);
    else if (event.type !== 'text' || !this.#later.has(turnId)) {
      this.#later.add(turnId);
      // The current turn's end was probably missed, since a turn starts after the one before has ended; only a queued
      // turn that is canceled ends earlier.
      this.#current.readStored();
    }
  }

  compare({ revision }: SessionHead): void {
    const hasChanged = revision !== this.#compared;
    this.#compared = revision;
    if (this.#current !== undefined) this.#current.compare(hasChanged);
    else if (hasChanged) this.#look();
  }

  /** Ends the current turn on the stream, because its session was deleted. */
  deleted(): void {
    if (this.#current !== undefined && !this.#isClosed) this.#pushEnd(this.#current.turnId);
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.close();
  }

  show(event: TurnEvent): void {
    // `#follow` has shown the start, and the session's logged events report tool calls.
    if (event.type === 'text') this.feed.push(event);
  }

  /** Merges past text into one event. */
  showPast(events: readonly TurnEvent[]): void {
    const texts = events.filter((event) => event.type === 'text');
    const [first] = texts;
    if (first === undefined) return;
    const content = texts.map((text) => text.content).join('');
    this.feed.push({ ...first, content }, true);
  }

  restart(): boolean {
    if (this.#current !== undefined) this.feed.push({ type: 'turn_started', turnId: this.#current.turnId });
    return true;
  }

  end(event: Extract<TurnEvent, { type: 'turn_ended' }> | undefined): void {
    const turnId = this.#current?.turnId;
    if (turnId === undefined) return;
    this.#current = undefined;
    // The start of the next turn may have been missed: forces a read at the next comparison.
    this.#compared = 0;
    this.#ended.add(turnId);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    if (event === undefined) this.#pushEnd(turnId);
    else this.feed.push(event);
    this.#goOn();
  }

  #pushEnd(turnId: string): void {
    this.feed.push({ type: 'turn_ended', turnId, outcome: 'interrupted', error: null });
  }

  /** Follows the next pending turn. */
  #goOn(): void {
    const [next] = this.#later;
    if (next === undefined || this.#isClosed) return;
    this.#later.delete(next);
    this.#follow(next);
  }

  #follow(turnId: string, event?: TurnEvent): void {
    const follower = new TurnFollower(this.sessionId, turnId, this.source, this);
    this.#current = follower;
    this.feed.push({ type: 'turn_started', turnId });
    if (event?.type !== 'turn_started') follower.catchUp();
    if (event !== undefined) follower.receive(event);
  }

  /** Finds the running turn, here or in the store, and follows it. Never rejects. */
  #look(): void {
    const here = this.source.inSession(this.sessionId);
    if (here !== undefined) this.#found(here.turn.id);
    else if (!this.#isLooking) {
      this.#isLooking = true;
      this.source.store
        .readFlight(this.sessionId)
        .then((flight) => {
          if (flight !== undefined) this.#found(flight.turnId);
        })
        .catch((error: unknown) => {
          this.#compared = 0;
          this.source.log.warn({ err: error }, 'failed to read a turn for a stream');
        })
        .finally(() => {
          this.#isLooking = false;
        });
    }
  }

  #found(turnId: string): void {
    if (this.#current === undefined && !this.#isClosed && !this.#ended.has(turnId)) this.#follow(turnId);
  }
}
