import { asError, TurnStopped, type StopReason } from '../model/abort.js';
import { textLength, type Message } from '../model/message.js';
import type { TurnObserver } from '../ports/observer.js';
import { NO_USAGE, type ClaimedTurn, type Usage } from '../model/turn.js';

/** Before the first write of a turn. */
const NOTHING = Promise.resolve();

/** A turn that this process works on: what of it is not in the store yet. */
export class RunningTurn {
  /** The text of the step in flight. */
  text = '';
  /**
   * When the first character of the step in flight was shown, by this attempt or an earlier one, in milliseconds since
   * the epoch; 0: none was.
   */
  textSince: number;
  /**
   * What an earlier attempt showed of the step that is now made anew: kept until there is new text, or for good when
   * the turn ends without being complete.
   */
  leftover: string;
  usage: Usage = NO_USAGE;
  /** About how many tokens of text were shown. */
  shownTokens = 0;
  rigId: string | null = null;
  /**
   * Whether this process has stored its end. Where another one did, something of the turn may have been missed here.
   */
  hasEnded = false;
  /**
   * Whether it was stopped. The signal says so too, but by Node's way to it, which costs 1 % of the main thread's time
   * when each token asks.
   */
  isStopped = false;
  #last: Promise<unknown> = NOTHING;
  readonly #controller = new AbortController();
  #onStop: ((reason: TurnStopped) => void) | undefined;

  /**
   * @param messages the turn's stored records, the user's message first
   * @param observed is told what becomes of it
   * @param heldSince when the lease on it was last known to begin, by the clock that nobody sets
   */
  constructor(
    readonly turn: ClaimedTurn,
    public messages: readonly Message[],
    readonly observed: TurnObserver,
    public heldSince: number,
  ) {
    this.leftover = turn.partialText;
    this.textSince = this.leftover === '' ? 0 : turn.partialSince || turn.createdAt;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The length of the text of its records, in UTF-16 units. */
  get textBefore(): number {
    return textLength(this.messages);
  }

  /** Where in the turn the next record goes. */
  get nextPosition(): number {
    return (this.messages.at(-1)?.position ?? -1) + 1;
  }

  /** The step in flight is a record: the next one has shown nothing. */
  beginStep(): void {
    this.text = this.leftover = '';
    this.textSince = 0;
  }

  /** The first reason counts. */
  stop(reason: StopReason): void {
    const stopped = new TurnStopped(reason);
    this.isStopped = true;
    this.#controller.abort(stopped);
    this.#onStop?.(stopped);
  }

  /**
   * Settles as the promise does, or rejects with why the turn was stopped, if that comes first. One at a time. As
   * `untilAborted`, without the listener on the signal, and what waits to take that off again: they live as long as the
   * answer, of which there is one for each stream.
   */
  unlessStopped<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onStop = reject;
      promise.then(resolve, reject);
      if (this.isStopped) reject(asError(this.signal.reason));
    });
  }

  /** Puts a record in the place of the one with its id, or at the end. */
  put(message: Message): void {
    const index = this.messages.findIndex(({ id }) => id === message.id);
    // Few: a list of its own size for each change takes less than one that is ready to grow.
    this.messages = index === -1 ? [...this.messages, message] : this.messages.with(index, message);
  }

  addUsage(usage: Usage): void {
    this.usage = {
      inputTokens: this.usage.inputTokens + usage.inputTokens,
      outputTokens: this.usage.outputTokens + usage.outputTokens,
    };
  }

  /** Runs writes of this turn one after the other: a later one must not overtake an earlier one in the store. */
  async inSequence<T>(write: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(write, write);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** This process has nothing more to do with it. */
  finish(): void {
    const reason: unknown = this.signal.reason;
    this.observed.left(reason instanceof TurnStopped ? reason.stop : 'lost');
  }
}
