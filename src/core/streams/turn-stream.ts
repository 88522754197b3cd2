import type { CutReason, TurnUpdate } from '../model/update.js';
import type { Sent } from '../model/send-request.js';
import { isTurnEvent, type Signal, type TurnEvent } from '../model/event.js';
import type { QueueFeed } from './queue-feed.js';
import type { SessionHead } from '../ports/store.js';
import type { Watch } from './watch.js';
import { TurnFollower, type TurnSource, type TurnView } from './turn-follower.js';

/**
 * Shows one turn to one stream, from start to end. Shown text cannot be retracted: if it becomes void, the stream is
 * cut.
 */
export class TurnStream implements Watch, TurnView {
  readonly sessionId: string;
  readonly #follower: TurnFollower;
  /** The store's revision at the last comparison. */
  #compared = 0;

  constructor(
    { sessionId, turnId }: Sent,
    private readonly feed: QueueFeed<TurnUpdate>,
    source: TurnSource,
  ) {
    this.sessionId = sessionId;
    this.#follower = new TurnFollower(sessionId, turnId, source, this);
  }

  /**
   * Shows the turn up to now.
   * @throws StoreUnavailableError
   */
  begin(): Promise<void> {
    return this.#follower.begin();
  }

  receive(signal: Signal): void {
    if (isTurnEvent(signal) && signal.turnId === this.#follower.turnId) this.#follower.receive(signal);
  }

  compare({ revision }: SessionHead): void {
    const hasChanged = revision !== this.#compared;
    this.#compared = revision;
    this.#follower.compare(hasChanged);
  }

  cut(reason: CutReason): void {
    if (this.feed.ended) return;
    this.feed.push({ type: 'cut', reason });
    this.feed.end();
  }

  close(): void {
    this.#follower.close();
  }

  show(event: TurnEvent): void {
    this.feed.push(event);
  }

  showPast(events: readonly TurnEvent[]): void {
    for (const event of events) this.feed.push(event, true);
  }

  restart(): boolean {
    this.cut('replaced');
    return false;
  }

  end(event: TurnEvent | undefined): void {
    if (event === undefined) this.cut('deleted');
    else {
      this.feed.push(event);
      this.feed.end();
    }
  }
}
