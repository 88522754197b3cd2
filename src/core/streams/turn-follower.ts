import type { TurnEvent } from '../model/event.js';
import type { Flight } from '../model/flight.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { RunningTurn } from '../turns/running-turn.js';
import type { Store } from '../ports/store.js';
import { TurnProgress, type TurnReading } from './turn-progress.js';

/** The delay after which missing text is read from the owner's checkpoint, and the interval of retries. */
const FILL_MS = 250;

/** The dependencies of `TurnFollower`. */
export interface TurnSource {
  readonly store: Pick<Store, 'readFlight' | 'readTurn'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the turn of a session that runs in this process. */
  inSession(sessionId: string): RunningTurn | undefined;
}

/** Receives what a `TurnFollower` emits. Nothing follows `end`, or a `restart` that returned false. */
export interface TurnView {
  /** Shows a live event. */
  show(event: TurnEvent): void;
  /** Shows events that have already happened, in order. */
  showPast(events: readonly TurnEvent[]): void;
  /**
   * Called when text that was shown is void, because another attempt has replaced it.
   * @returns true to have the whole turn shown again
   */
  restart(): boolean;
  /** Shows the end of the turn; undefined: it is no longer stored, because its session was deleted. */
  end(event: Extract<TurnEvent, { type: 'turn_ended' }> | undefined): void;
}

/**
 * Follows one turn to its end, on whichever node it runs. Signals that the bus loses are recovered from the store: text
 * in flight from the owner's checkpoints, everything else from the turn's messages.
 */
export class TurnFollower {
  #progress: TurnProgress;
  /** The turn, if it has started in this process. */
  #here: RunningTurn | undefined;
  #isOver = false;
  /** True if the stored messages may have changed since they were read. */
  #hasChanged = true;
  #isReading = false;
  /** True if another read was requested during the current one. */
  #isDue = false;
  #cancelFill: (() => void) | undefined;

  constructor(
    private readonly sessionId: string,
    readonly turnId: string,
    private readonly source: TurnSource,
    private readonly view: TurnView,
  ) {
    this.#progress = new TurnProgress(turnId);
  }

  /**
   * Shows the turn up to now.
   * @throws StoreUnavailableError
   */
  async begin(): Promise<void> {
    if (!this.#readHere()) await this.#readStore();
  }

  /** Like `begin`, in the background. Never throws: a failed read is repeated at the next signal or comparison. */
  catchUp(): void {
    if (!this.#readHere()) this.readStored();
  }

  /** Reads the turn from the store in the background, including its end. Never throws. */
  readStored(): void {
    this.#hasChanged = true;
    this.#read();
  }

  /** A live event of this turn. */
  receive(event: TurnEvent): void {
    if (this.#isOver) return;
    switch (event.type) {
      case 'turn_started':
        this.#start(event);
        // Steps finished by earlier attempts may have been missed.
        if (event.attempt > 1) this.catchUp();
        return;
      case 'text': {
        const fresh = this.#progress.takeText(event);
        if (fresh !== undefined) this.view.show(fresh);
        else if (this.#progress.isContradicted) this.#restartWith(event);
        else if (this.#progress.hasHole) this.#fillSoon();
        return;
      }
      case 'tool_called':
      case 'tool_returned':
        for (const shown of this.#progress.takeTool(event)) this.view.show(shown);
        this.#settle();
        return;
      case 'turn_ended':
        // If the only attempt ran in this process, nothing was missed. Otherwise the stored messages decide what
        // belongs to the turn.
        if (this.#here?.hasEnded === true && this.#here.turn.attempt === 1 && !this.#progress.hasHole)
          this.#end(event);
        else this.readStored();
        return;
    }
    event satisfies never;
  }

  /**
   * Called after the session was compared with the store.
   * @param hasChanged whether its revision has changed since the last comparison
   */
  compare(hasChanged: boolean): void {
    this.#hasChanged ||= hasChanged;
    if (this.#runningHere() === undefined) this.#read();
  }

  close(): void {
    this.#isOver = true;
    this.#cancelFill?.();
  }

  #runningHere(): RunningTurn | undefined {
    const running = this.source.inSession(this.sessionId);
    return running?.turn.id === this.turnId ? running : undefined;
  }

  /** Reads the turn from memory. Returns false when it does not run in this process. */
  #readHere(): boolean {
    const running = this.#runningHere();
    if (running === undefined) return false;
    const { messages: records, nextPosition: position, text } = running;
    const { attempt } = running.turn;
    if (this.#here !== running) this.#start({ type: 'turn_started', turnId: this.turnId, attempt });
    this.#apply({ records, flight: { attempt, position, text }, isOver: false });
    return true;
  }

  #start(event: Extract<TurnEvent, { type: 'turn_started' }>): void {
    this.#here = this.#runningHere();
    if (this.#progress.begin(event.attempt)) this.view.show(event);
  }

  #read(): void {
    this.#isDue = this.#isReading;
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    this.#readStore()
      .catch((error: unknown) => {
        this.#hasChanged = true;
        this.source.log.warn({ err: error }, 'failed to read a turn for a stream');
      })
      .finally(() => {
        this.#isReading = false;
        if (this.#isDue) this.#read();
      });
  }

  async #readStore(): Promise<void> {
    const { store } = this.source;
    // Read before the messages, so that a step that ends between the two reads is among the messages.
    const found = await store.readFlight(this.sessionId);
    const flight = found?.turnId === this.turnId ? found : undefined;
    if (flight !== undefined && this.#progress.isAt(flight.position))
      this.#apply({ records: [], flight, isOver: false });
    else if (this.#hasChanged) await this.#readRecords(flight);
  }

  async #readRecords(flight: Flight | undefined): Promise<void> {
    this.#hasChanged = false;
    const found = await this.source.store.readTurn(this.sessionId, this.turnId);
    if (this.#isOver) return;
    if (found === undefined) {
      this.#end(undefined);
      return;
    }
    const { turn, messages: records } = found;
    const { status, error } = turn;
    const isPast = records.some(({ position }) => position >= (flight?.position ?? 0));
    const isOver = status !== 'queued' && status !== 'running';
    const isShown = this.#apply({ records, flight: isPast ? undefined : flight, isOver });
    if (isOver && isShown) this.#end({ type: 'turn_ended', turnId: this.turnId, outcome: status, error });
  }

  /** Returns false when the reading contradicts what was shown. */
  #apply(reading: TurnReading): boolean {
    if (this.#isOver) return false;
    this.view.showPast(this.#progress.read(reading));
    return this.#settle();
  }

  #settle(): boolean {
    const { isContradicted, hasHole } = this.#progress;
    if (isContradicted) this.#restart();
    else if (hasHole) this.#fillSoon();
    return !isContradicted;
  }

  #restartWith(event: TurnEvent): void {
    this.#restart();
    this.receive(event);
  }

  #restart(): void {
    if (!this.view.restart()) {
      this.close();
      return;
    }
    this.#progress = new TurnProgress(this.turnId);
    this.readStored();
  }

  #fillSoon(): void {
    if (this.#isOver) return;
    this.#cancelFill ??= this.source.clock.after(FILL_MS, () => {
      this.#cancelFill = undefined;
      this.readStored();
      if (this.#progress.hasHole) this.#fillSoon();
    });
  }

  #end(event: Extract<TurnEvent, { type: 'turn_ended' }> | undefined): void {
    this.close();
    this.view.end(event);
  }
}
