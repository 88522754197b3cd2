import type { JsonValue } from './json.js';

/** Text that every store and every client keeps as it is: lone surrogates and NUL become U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/**
 * JSON whose texts and keys are well-formed. Recursive: bound the depth first. The same value when nothing is wrong.
 */
export function wellFormedJson(value: JsonValue): JsonValue {
  // JSON.stringify escapes exactly what is replaced here. A text that spells such an escape is copied, which does no
  // harm.
  return /\\u(?:0000|d[89a-f])/.test(JSON.stringify(value)) ? replaced(value) : value;
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), replaced(item)]));
}

/**
 * Text that arrives in pieces, made well-formed. Holds back a high surrogate at the end of a piece until the next
 * piece.
 */
export class WellFormedPieces {
  #held = '';

  /** The piece as it can be shown; may be empty. */
  add(piece: string): string {
    const text = this.#held + piece;
    this.#held = endsInHighSurrogate(text) ? text.slice(-1) : '';
    return wellFormed(this.#held === '' ? text : text.slice(0, -1));
  }

  /** What is left when no more comes. */
  end(): string {
    const rest = wellFormed(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Cuts text to at most so many UTF-16 units, never within a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return endsInHighSurrogate(cut) ? cut.slice(0, -1) : cut;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
