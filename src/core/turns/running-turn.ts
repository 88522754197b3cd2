import { asError, TurnStopped, type StopReason } from '../model/abort.js';
import { textLength, type Message } from '../model/message.js';
import type { TurnObserver } from '../ports/observer.js';
import { NO_USAGE, type ClaimedTurn, type Usage } from '../model/turn.js';

const NOTHING = Promise.resolve();

/** A turn that runs in this process, with its state that is not stored yet. */
export class RunningTurn {
  /** The text of the step in flight. */
  text = '';
  /**
   * When the first character of the step in flight was published, by this attempt or an earlier one, in milliseconds
   * since the epoch; 0: none was.
   */
  textSince: number;
  /**
   * Text of the repeated step that an earlier attempt published. Dropped when new text arrives; kept in the thread if
   * the turn ends incomplete before that.
   */
  leftover: string;
  /** The tokens of this attempt. */
  usage: Usage = NO_USAGE;
  /** Estimated number of tokens of published text. */
  shownTokens = 0;
  rigId: string | null = null;
  /** The id of the newest event that this attempt has logged; 0: none. */
  lastEventId = 0;
  /** True if this process has stored the turn's end. Otherwise another node may have added to the turn. */
  hasEnded = false;
  /** True once `stop()` was called. Mirrors `signal.aborted`, whose getter is too slow to read for every token. */
  isStopped = false;
  #isDeleted = false;
  #last: Promise<unknown> = NOTHING;
  readonly #controller = new AbortController();
  #onStop: ((reason: TurnStopped) => void) | undefined;

  /**
   * @param messages the turn's stored messages, the user's message first
   * @param observed receives metrics events of the turn
   * @param heldSince when the current lease began, by the monotonic clock, in milliseconds
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

  /** The length of the text of its messages, in UTF-16 code units. */
  get textBefore(): number {
    return textLength(this.messages);
  }

  /** The position of the turn's next message. */
  get nextPosition(): number {
    return (this.messages.at(-1)?.position ?? -1) + 1;
  }

  /** Starts the next step, after the current one was stored as a message. */
  beginStep(): void {
    this.text = this.leftover = '';
    this.textSince = 0;
  }

  /** Stops the turn. Of several reasons the first one counts. */
  stop(reason: StopReason): void {
    const stopped = new TurnStopped(reason);
    this.isStopped = true;
    this.#isDeleted ||= reason === 'deleted';
    this.#controller.abort(stopped);
    this.#onStop?.(stopped);
  }

  /**
   * Settles as the promise does, or rejects with the reason of the stop if that comes first. Supports one call at a
   * time. Unlike `untilAborted` it allocates no listener on the signal, to save memory in each stream.
   */
  unlessStopped<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onStop = reject;
      promise.then(resolve, reject);
      if (this.isStopped) reject(asError(this.signal.reason));
    });
  }

  /** Replaces the message with the same id, or appends the message. */
  put(message: Message): void {
    const index = this.messages.findIndex(({ id }) => id === message.id);
    // Copied on change: an array of exact size takes less memory than one with spare capacity.
    this.messages = index === -1 ? [...this.messages, message] : this.messages.with(index, message);
  }

  addUsage(usage: Usage): void {
    this.usage = {
      inputTokens: this.usage.inputTokens + usage.inputTokens,
      outputTokens: this.usage.outputTokens + usage.outputTokens,
    };
  }

  /** Runs the writes of this turn sequentially, so that none overtakes an earlier one. */
  async inSequence<T>(write: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(write, write);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /**
   * Why this process abandons the turn. The deletion of its session counts although its lease was lost first: the store
   * refuses writes from then on, and the signal of the deletion arrives later.
   */
  get leftAs(): StopReason {
    const reason: unknown = this.signal.reason;
    const stop = reason instanceof TurnStopped ? reason.stop : 'lost';
    return stop === 'lost' && this.#isDeleted ? 'deleted' : stop;
  }

  /** Reports to the observer that this process has finished or abandoned the turn. Idempotent. */
  finish(): void {
    this.observed.left(this.leftAs);
  }
}
