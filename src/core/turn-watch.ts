import type { Sent, TurnUpdate } from './core.js';
import type { Signal, TurnEvent } from './event.js';
import type { QueueFeed } from './feed.js';
import type { Parts } from './parts.js';
import type { Runner } from './runner.js';
import type { RunningTurn } from './running-turn.js';
import type { SessionHead } from './store.js';
import type { Watch } from './streams.js';
import { TurnCursor } from './turn-cursor.js';

/** How soon after a hole the owner's checkpoint is looked for, and again. */
const FILL_MS = 250;

/** Follows one turn from its beginning, wherever it is worked on, to its end. */
export class TurnWatch implements Watch {
  readonly sessionId: string;
  readonly #cursor: TurnCursor;
  /** The turn while it is worked on here: then nothing of it can be missed. */
  #here: RunningTurn | undefined;
  /** The revision that was last compared with the store. */
  #compared = 0;
  #isReading = false;
  /** Something happened during the read: it is to be done again. */
  #isDue = false;
  #filling: NodeJS.Timeout | undefined;

  constructor(
    sent: Sent,
    private readonly feed: QueueFeed<TurnUpdate>,
    private readonly parts: Parts,
    private readonly runner: Runner,
  ) {
    this.sessionId = sent.sessionId;
    this.#cursor = new TurnCursor(sent.turnId);
  }

  /** Shows the turn so far. */
  async begin(): Promise<void> {
    if (!this.#readHere()) await this.#readStore();
  }

  hear(signal: Signal): void {
    switch (signal.type) {
      case 'turn_started':
        this.#here = this.#runningHere();
        // What was shown of a step cannot be taken back when a new attempt makes it anew.
        if (this.#cursor.isContradictedBy(signal)) this.cut('draining');
        else this.#show(this.#cursor.pass(signal));
        return;
      case 'text': {
        const fresh = this.#cursor.passText(signal);
        if (fresh !== undefined) this.feed.push(fresh);
        if (this.#cursor.hasHole) this.#fillSoon();
        return;
      }
      case 'tool_called':
      case 'tool_returned':
        this.#show(this.#cursor.pass(signal));
        if (this.#cursor.hasHole) this.#fillSoon();
        return;
      case 'turn_ended':
        // Of a turn elsewhere something may have been missed: its records say all, and its end too.
        if (this.#here?.hasEnded === true) this.#show(this.#cursor.pass(signal));
        else if (signal.turnId === this.#cursor.turnId) this.#read();
        return;
      case 'logged':
      case 'session_changed':
      case 'session_deleted':
      case 'missed':
      case 'interrupt':
        return;
    }
    signal satisfies never;
  }

  compare(head: SessionHead): void {
    this.#here = this.#runningHere();
    if (head.revision === this.#compared || this.#here !== undefined) return;
    this.#compared = head.revision;
    this.#read();
  }

  cut(reason: 'deleted' | 'draining'): void {
    if (this.feed.ended) return;
    this.feed.push({ type: 'cut', reason });
    this.feed.end();
  }

  /** True when the turn is known here: it runs here, or it waits in a session that is active here. */
  #readHere(): boolean {
    const { turnId } = this.#cursor;
    const running = this.#runningHere();
    if (running !== undefined) {
      this.#here = running;
      const { attempt } = running.turn;
      this.#show(this.#cursor.pass({ type: 'turn_started', turnId, attempt }));
      const flight = { attempt, position: running.nextPosition, text: running.text };
      this.#show(this.#cursor.read(running.messages, flight), true);
      return true;
    }
    const open = this.parts.threads.peek(this.sessionId)?.findOpen(turnId);
    return open?.turn.status === 'queued';
  }

  #runningHere(): RunningTurn | undefined {
    return this.runner.findWorking(this.sessionId, this.#cursor.turnId);
  }

  /** Never rejects: what cannot be read now is read at the next occasion. */
  #read(): void {
    this.#isDue = this.#isReading;
    if (this.#isReading || this.feed.ended) return;
    this.#isReading = true;
    this.#readStore()
      .catch((error: unknown) => {
        this.parts.log.warn({ err: error }, 'a turn could not be read for a stream');
        this.#compared = 0;
      })
      .finally(() => {
        this.#isReading = false;
        if (this.#isDue) this.#read();
      });
  }

  #fillSoon(): void {
    this.#filling ??= setTimeout(() => {
      this.#filling = undefined;
      this.#read();
      if (this.#cursor.hasHole && !this.feed.ended) this.#fillSoon();
    }, FILL_MS);
  }

  async #readStore(): Promise<void> {
    const { turnId } = this.#cursor;
    // The text in flight first: a step that ends between the two reads is then in the records.
    const flight = await this.parts.store.readFlight(this.sessionId);
    const found = await this.parts.store.readTurn(this.sessionId, turnId);
    if (found === undefined) {
      this.cut('deleted');
      return;
    }
    const { turn, messages } = found;
    if (turn.status === 'queued' || turn.status === 'running') {
      const isFlying =
        flight?.turnId === turnId && !messages.some(({ position }) => position >= flight.position);
      if (
        isFlying &&
        this.#cursor.isContradictedBy({ type: 'turn_started', turnId, attempt: flight.attempt })
      ) {
        // The signal of its new attempt was missed.
        this.cut('draining');
        return;
      }
      this.#show(this.#cursor.read(messages, isFlying ? flight : undefined), true);
      return;
    }
    this.#show(this.#cursor.read(messages), true);
    this.#show(this.#cursor.pass({ type: 'turn_ended', turnId, outcome: turn.status, error: turn.error }));
  }

  #show(events: Iterable<TurnEvent>, arePast = false): void {
    for (const event of events) this.feed.push(event, arePast);
    if (this.#cursor.ended) this.feed.end();
    if (this.feed.ended) clearTimeout(this.#filling);
  }
}
