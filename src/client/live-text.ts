/** Text of a turn, and its place in the whole of it. */
export interface Piece {
  readonly content: string;
  /** How many UTF-16 units of the turn's text come before it. */
  readonly offset: number;
}

/**
 * How much of the running turn's text is known to whoever watches: by states, which have it so far, and by pieces that
 * came after them. Lets each character through once.
 */
export class LiveText {
  #turnId: string | undefined;
  /** As the stream told it. */
  #told = '';
  /** As the last state had it. */
  #covered = '';
  #shown = 0;
  /** What is told is not what the state has of this turn: the state at its end will say what is right. */
  #isMuted = false;

  get turnId(): string | undefined {
    return this.#turnId;
  }

  /** A stream tells this turn from its beginning. */
  begin(turnId: string): void {
    if (this.#turnId !== undefined && this.#turnId !== turnId) this.#forget();
    this.#turnId = turnId;
    this.#told = '';
  }

  /**
   * The turn is over. @param next what the last state has of the one after it, which may not come anew and stays known
   */
  end(next = ''): void {
    this.#turnId = undefined;
    this.#told = '';
    this.cover(next);
  }

  /** The stream has more text. @param offset its place in the turn's text; undefined: the end */
  hear(content: string, offset = this.#told.length): void {
    this.#told = this.#told.slice(0, offset) + content;
    const [shorter, longer] =
      this.#told.length < this.#covered.length ? [this.#told, this.#covered] : [this.#covered, this.#told];
    if (!longer.startsWith(shorter)) this.#isMuted = true;
  }

  /** A state was shown that has this of the running turn; nothing else is shown any more. */
  cover(text: string): void {
    this.#isMuted = !text.startsWith(this.#told) && !this.#told.startsWith(text);
    this.#covered = text;
    this.#shown = text.length;
  }

  /** A state was shown that has all of this turn. */
  mute(): void {
    this.#isMuted = true;
  }

  /** What is told and not shown yet, which then counts as shown. */
  take(): Piece | undefined {
    if (this.#isMuted || this.#told.length <= this.#shown) return undefined;
    const piece = { content: this.#told.slice(this.#shown), offset: this.#shown };
    this.#shown = this.#told.length;
    return piece;
  }

  #forget(): void {
    this.#covered = '';
    this.#shown = 0;
    this.#isMuted = false;
  }
}
