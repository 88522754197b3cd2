import type { TurnEvent } from './event.js';
import type { Flight } from './flight.js';

type Text = Extract<TurnEvent, { type: 'text' }>;

/**
 * How far a stream of deltas has shown the text of the running turn. Deltas have no place of their own on the wire, so a hole
 * must be seen here: what comes after one is held until a checkpoint of the turn's owner fills it.
 */
export class TurnText {
  #turnId: string | null = null;
  #attempt = 0;
  #position = 0;
  #length = 0;
  #total = 0;
  #ahead: Text[] = [];

  /** A new turn, or a new attempt at it: what was shown of it is void. */
  begin(turnId: string, attempt: number): void {
    this.#turnId = turnId;
    this.#attempt = attempt;
    this.#position = 0;
    this.#length = 0;
    this.#total = 0;
    this.#ahead = this.#ahead.filter((event) => event.turnId === turnId && event.attempt === attempt);
  }

  /** The attempt that was begun last. */
  get attempt(): number {
    return this.#attempt;
  }

  /** How many characters of it were shown, of all its steps. */
  get total(): number {
    return this.#total;
  }

  /** Whether this turn was begun last. */
  isOf(turnId: string): boolean {
    return turnId === this.#turnId;
  }

  /** Whether this attempt at this turn was begun last. */
  isAt(turnId: string, attempt: number): boolean {
    return turnId === this.#turnId && attempt === this.#attempt;
  }

  /** What is held will not be needed: its turn has ended, and its records say all. */
  dropHeld(): void {
    this.#ahead = [];
  }

  /** The text so far was shown, `total` in all, up to this length of the step at `position`. */
  skipTo(position: number, length: number, total: number): void {
    this.#position = position;
    this.#length = length;
    this.#total = total;
  }

  /** Whether more was shown than a checkpoint has. */
  isBeyond({ turnId, attempt, position }: Flight): boolean {
    return (
      turnId === this.#turnId &&
      (attempt < this.#attempt || (attempt === this.#attempt && position < this.#position))
    );
  }

  /** True when text is held behind a hole. */
  get hasHole(): boolean {
    return this.#ahead.length > 0;
  }

  /** What of a delta is to be shown now; undefined: nothing, as it is known or comes after a hole. */
  take(event: Text): Text | undefined {
    const { turnId, attempt, position, offset, content } = event;
    const isOlder = turnId === this.#turnId && (attempt < this.#attempt || position < this.#position);
    if (isOlder) return undefined;
    const isOther = turnId !== this.#turnId || attempt > this.#attempt;
    const shown = position > this.#position ? 0 : this.#length;
    if (isOther || offset > shown) {
      this.#ahead.push(event);
      return undefined;
    }
    const fresh = content.slice(shown - offset);
    if (fresh === '') return undefined;
    this.#position = position;
    this.#length = offset + content.length;
    this.#total += fresh.length;
    return { ...event, offset: shown, content: fresh };
  }

  /** Whether a checkpoint reaches what is held: then the hole can be filled. */
  isFilledBy({ turnId, attempt, position, text }: Flight): boolean {
    const [first] = this.#ahead;
    if (first === undefined) return true;
    if (first.turnId !== turnId || first.attempt !== attempt) return false;
    return first.position < position || (first.position === position && first.offset <= text.length);
  }

  /** What a checkpoint adds to the step that was shown last; undefined: it is of another step, so that all is to be shown anew. */
  advance({ turnId, attempt, position, text }: Flight): Text | undefined {
    if (turnId !== this.#turnId || attempt !== this.#attempt || position !== this.#position) return undefined;
    const offset = Math.min(this.#length, text.length);
    this.#total += text.length - offset;
    this.#length = Math.max(this.#length, text.length);
    return { type: 'text', turnId, attempt, position, offset, content: text.slice(offset) };
  }

  /** What was held and can be shown now. */
  release(): Text[] {
    const held = this.#ahead;
    this.#ahead = [];
    return held.flatMap((event) => this.take(event) ?? []);
  }
}
