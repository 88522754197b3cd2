import type { Piece } from './live-text.js';
import type { SessionEvent } from './types.js';

/** Emits each character of a turn's text exactly once, whatever states and streams repeat of it. */
export class TurnText {
  #turnId: string | undefined;
  #told = '';

  /** Emits `turn_started` once per turn. */
  *begin(turnId: string): Generator<SessionEvent> {
    if (this.#turnId === turnId) return;
    this.#turnId = turnId;
    yield { type: 'turn_started', turnId };
  }

  /** Emits the part of a piece that was not emitted yet. */
  *add({ content, offset }: Piece): Generator<SessionEvent> {
    yield* this.#more(content.slice(Math.max(this.#told.length - offset, 0)));
  }

  /**
   * Emits what is missing from the stored text. If the text was generated again with different content, restarts from
   * its beginning.
   */
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
