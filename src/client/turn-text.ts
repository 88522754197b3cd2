import type { Piece } from './live-text.js';
import type { SessionEvent } from './types.js';

/** Tells the text of one turn in one piece after another, whatever states and streams repeat of it. */
export class TurnText {
  #turnId: string | undefined;
  #told = '';

  /** The turn begins; told once. */
  *begin(turnId: string): Generator<SessionEvent> {
    if (this.#turnId === turnId) return;
    this.#turnId = turnId;
    yield { type: 'turn_started', turnId };
  }

  /** A piece of the text at its place. */
  *add({ content, offset }: Piece): Generator<SessionEvent> {
    yield* this.#more(content.slice(Math.max(this.#told.length - offset, 0)));
  }

  /** The text so far, as it is kept. When it was made anew, its beginning is told again. */
  *reach(text: string): Generator<SessionEvent> {
    if (this.#told.startsWith(text)) return;
    if (!text.startsWith(this.#told)) {
      this.#told = '';
      if (this.#turnId !== undefined) yield { type: 'turn_started', turnId: this.#turnId };
    }
    yield* this.#more(text.slice(this.#told.length));
  }

  *#more(content: string): Generator<SessionEvent> {
    if (content === '' || this.#turnId === undefined) return;
    this.#told += content;
    yield { type: 'text', turnId: this.#turnId, content };
  }
}
