const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** How much JSON may hold before it is parsed. */
export interface JsonBounds {
  /** Array elements, object members, arrays and objects together. */
  readonly values: number;
  /** Arrays and objects within each other. */
  readonly depth: number;
}

/**
 * Counts the values of JSON in UTF-8 as its bytes arrive, so that text which is cheap to send and costly to parse
 * (`[[[[`) is refused before the parser sees it. Linear, without allocation; it does not check that the bytes are JSON.
 */
export class JsonMeter {
  #values = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(private readonly bounds: JsonBounds) {}

  /** Begins to count again, for the next text. */
  reset(): void {
    this.#values = 0;
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** A string of JSON ends with its line at the latest: what was quoted in a line that is no JSON hides nothing. */
  endLine(): void {
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** @returns false when the bounds are exceeded */
  push(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (this.#isInString) this.#inString(byte);
      else if (!this.#outside(byte)) return false;
    }
    return true;
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
  }

  #outside(byte: number): boolean {
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        return true;
      case COMMA:
        return ++this.#values <= this.bounds.values;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        return ++this.#depth <= this.bounds.depth && ++this.#values <= this.bounds.values;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        this.#depth--;
        return true;
      default:
        return true;
    }
  }
}
