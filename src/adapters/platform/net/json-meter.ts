const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Limits of a JSON text that is to be parsed. */
export interface JsonBounds {
  /** Limit of the estimated number of values: commas, arrays and objects together. */
  readonly values: number;
  /** Limit of the nesting of arrays and objects. */
  readonly depth: number;
}

/**
 * Counts the values of a UTF-8 JSON text as its bytes arrive, so that a text that is cheap to send and expensive to
 * parse (`[[[[`) is rejected before it is parsed. Runs in linear time without allocation; does not validate the JSON.
 */
export class JsonMeter {
  #values = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(private readonly bounds: JsonBounds) {}

  /** Resets the counters for the next text. */
  reset(): void {
    this.#values = 0;
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** Ends an open string. JSON strings cannot contain line breaks, so a stray quote in a non-JSON line ends with it. */
  endLine(): void {
    this.#isInString = false;
    this.#isEscaped = false;
  }

  /** @returns false when a limit is exceeded */
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
        // What is not JSON closes more than it opens.
        if (this.#depth > 0) this.#depth--;
        return true;
      default:
        return true;
    }
  }
}
