const OPENING = '<think>';
const CLOSING = '</think>';
/** How much white space before the block is held back, in characters. */
const MAX_BLANK = 256;

/**
 * Removes the reasoning at the start of a text that arrives in pieces: `<think>…</think>`, and the white space around
 * it. Servers without a reasoning parser send it as a part of the content. A block that is not closed lasts to the end.
 */
export class ThinkBlock {
  #state: 'start' | 'inside' | 'after' | 'passed' = 'start';
  /** The end of the text so far, which may belong to a tag or to the white space. */
  #held = '';

  /** Returns the text that can be shown now. */
  take(piece: string): string {
    if (this.#state === 'passed') return piece;
    this.#held += piece;
    if (this.#state === 'start') {
      const text = this.#held.trimStart();
      const mayOpen = text.length < OPENING.length && OPENING.startsWith(text);
      if (mayOpen && this.#held.length <= MAX_BLANK) return '';
      if (!text.startsWith(OPENING)) return this.end();
      this.#state = 'inside';
      this.#held = text.slice(OPENING.length);
    }
    if (this.#state === 'inside') {
      const closing = this.#held.indexOf(CLOSING);
      this.#held = this.#held.slice(closing < 0 ? 1 - CLOSING.length : closing + CLOSING.length);
      if (closing < 0) return '';
      this.#state = 'after';
    }
    this.#held = this.#held.trimStart();
    return this.#held === '' ? '' : this.end();
  }

  /** Returns the text held back, unless it is reasoning. */
  end(): string {
    const text = this.#state === 'inside' ? '' : this.#held;
    this.#state = 'passed';
    this.#held = '';
    return text;
  }
}
