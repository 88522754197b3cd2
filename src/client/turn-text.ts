import type { Piece } from './live-text.js';
import type { SessionEvent } from './types.js';

/** Emits each character of a turn's text exactly once, whatever states and streams repeat of it. */
export class TurnText {
  #turnId: string | undefined;
  #received = '';

  /** Emits `turn_started` once per turn. */
  *begin(turnId: string): Generator<SessionEvent> {
    if (this.#turnId === turnId) return;
    this.#turnId = turnId;
    yield { type: 'turn_started', turnId };
  }

  /** Emits the part of a piece that was not emitted yet. */
  *add({ content, offset }: Piece): Generator<SessionEvent> {
    yield* this.#more(content.slice(Math.max(this.#received.length - offset, 0)));
  }

  /**
   * Emits what is missing from the stored text. If the text was generated again with different content, restarts from
   * its beginning.
   */
  *reach(text: string): Generator<SessionEvent> {
    if (this.#received.startsWith(text)) return;
    if (!text.startsWith(this.#received)) {
      this.#received = '';
      if (this.#turnId !== undefined) yield { type: 'turn_started', turnId: this.#turnId };
    }
    yield* this.#more(text.slice(this.#received.length));
  }

  *#more(content: string): Generator<SessionEvent> {
    if (content === '' || this.#turnId === undefined) return;
    this.#received += content;
    yield { type: 'text', turnId: this.#turnId, content };
  }
}
