import { endedIn, ordinalOf, textAfter } from './messages.js';
import type { ChatMessage, SessionState } from './types.js';

/** A piece of a turn's text. */
export interface Piece {
  readonly content: string;
  /** The position in the turn's text, in UTF-16 code units. */
  readonly offset: number;
}

/**
 * Merges the text of turns from states, which contain the text so far, and from a stream, which sends one turn after
 * the other from its beginning, so that each character is emitted once.
 */
export class LiveText {
  #turnId: string | undefined;
  /** The text from the stream. */
  #received = '';
  /** The messages of the last state that was emitted. */
  #messages: readonly ChatMessage[] = [];
  /** Their text of the turn, and of the turns after it. */
  #covered = '';
  #shown = 0;
  /** The number of turns before the one that the stream sends, or sends next. */
  #before = 0;

  get turnId(): string | undefined {
    return this.#turnId;
  }

  /** Starts a turn that the stream sends from its beginning. */
  begin(turnId: string): void {
    this.#turnId = turnId;
    this.#received = '';
  }

  /** Starts the turn again, for a consumer that discards its text. */
  restart(): void {
    this.#received = '';
    this.#covered = '';
    this.#shown = 0;
  }

  /** Ends the turn. */
  end(): void {
    this.#turnId = undefined;
    this.#received = '';
    this.#cover(this.#before + 1);
  }

  /**
   * Adds text from the stream.
   * @param offset its position in the turn's text; undefined: the end
   */
  receive(content: string, offset = this.#received.length): void {
    this.#received = this.#received.slice(0, offset) + content;
  }

  /** Records a state that was just emitted. */
  cover({ messages }: SessionState): void {
    this.#messages = messages;
    this.#cover(this.#before);
  }

  /** Skips the turns that have ended in the last state: a stream that is opened now does not send them. */
  skipEnded(state: SessionState): void {
    const ended = endedIn(state);
    this.#cover(state.status === 'processing' ? Math.max(ended, this.#before) : ended);
  }

  /** @param ordinal the number of the turn that the stream sends; undefined if it is not known */
  place(ordinal = this.#before + 1): void {
    this.#cover(ordinal - 1);
  }

  /** Finds the turn that the stream sends by its message. */
  placeBy(message: string): void {
    this.place(ordinalOf(this.#messages, message, this.#before));
  }

  /**
   * Returns the text from the stream that was not emitted yet, and marks it as emitted. Nothing while the stream
   * contradicts the state: the state at the turn's end will have the correct text.
   */
  take(): Piece | undefined {
    if (this.#received.length <= this.#shown || !this.#fits()) return undefined;
    const piece = { content: this.#received.slice(this.#shown), offset: this.#shown };
    this.#shown = this.#received.length;
    return piece;
  }

  #cover(before: number): void {
    this.#before = before;
    this.#covered = textAfter(this.#messages, before);
    this.#shown = this.#covered.length;
  }

  /** True if the text of the state or that of the stream is the beginning of the other. */
  #fits(): boolean {
    return this.#covered.startsWith(this.#received) || this.#received.startsWith(this.#covered);
  }
}
