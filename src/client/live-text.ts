/** A piece of a turn's text. */
export interface Piece {
  readonly content: string;
  /** The position in the turn's text, in UTF-16 code units. */
  readonly offset: number;
}

/**
 * Merges the running turn's text from states, which contain the text so far, and from later pieces of the stream, so
 * that each character is emitted once.
 */
export class LiveText {
  #turnId: string | undefined;
  /** The text from the stream. */
  #received = '';
  /** The text in the last state. */
  #covered = '';
  #shown = 0;
  /**
   * The stream contradicts the state, so nothing is emitted; the state at the turn's end will have the correct text.
   */
  #isMuted = false;

  get turnId(): string | undefined {
    return this.#turnId;
  }

  /** Starts a turn that the stream sends from its beginning. */
  begin(turnId: string): void {
    const isNext = this.#turnId !== undefined && this.#turnId !== turnId;
    this.#turnId = turnId;
    this.#received = '';
    if (isNext) this.cover('');
  }

  /**
   * Ends the turn.
   * @param next the text that the last state has of the next turn; the stream may not repeat it
   */
  end(next = ''): void {
    this.#turnId = undefined;
    this.#received = '';
    this.cover(next);
  }

  /**
   * Adds text from the stream.
   * @param offset its position in the turn's text; undefined: the end
   */
  receive(content: string, offset = this.#received.length): void {
    this.#received = this.#received.slice(0, offset) + content;
    this.#isMuted ||= this.#contradicts(this.#covered);
  }

  /** Records the running turn's text in a state that was just emitted. */
  cover(text: string): void {
    this.#isMuted = this.#contradicts(text);
    this.#covered = text;
    this.#shown = text.length;
  }

  /** Suppresses the text of this turn, because an emitted state contains all of it. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Returns the text from the stream that was not emitted yet, and marks it as emitted. */
  take(): Piece | undefined {
    if (this.#isMuted || this.#received.length <= this.#shown) return undefined;
    const piece = { content: this.#received.slice(this.#shown), offset: this.#shown };
    this.#shown = this.#received.length;
    return piece;
  }

  /** True if neither this text nor that of the stream is the beginning of the other. */
  #contradicts(text: string): boolean {
    return !text.startsWith(this.#received) && !this.#received.startsWith(text);
  }
}
