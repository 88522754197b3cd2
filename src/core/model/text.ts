import type { JsonValue } from './json.js';

/** Replaces lone surrogates and NUL, which not every store and client preserves, by U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/**
 * Makes all strings and keys of a JSON value well-formed. Returns the same object if nothing changes. Recursive: the
 * caller must limit the depth first.
 */
export function wellFormedJson(value: JsonValue): JsonValue {
  // JSON.stringify escapes exactly the characters that are replaced here. Text that spells out such an escape matches
  // as well and is copied unchanged.
  return /\\u(?:0000|d[89a-f])/.test(JSON.stringify(value)) ? replaced(value) : value;
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [wellFormed(key), replaced(item)]));
}

/** Makes streamed text well-formed. Holds back a high surrogate at the end of a chunk until the next chunk. */
export class WellFormedPieces {
  #held = '';

  /** Returns the text that can be emitted now; may be empty. */
  add(piece: string): string {
    const text = this.#held + piece;
    this.#held = endsInHighSurrogate(text) ? text.slice(-1) : '';
    return wellFormed(this.#held === '' ? text : text.slice(0, -1));
  }

  /** Returns the rest of the text at the end of the stream. */
  end(): string {
    const rest = wellFormed(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Truncates text to at most `length` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return endsInHighSurrogate(cut) ? cut.slice(0, -1) : cut;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
