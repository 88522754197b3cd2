import { isJsonObject, type JsonValue } from '../model/json.js';
import { resultText } from '../model/message.js';
import { PatternMatcher } from './pattern-matcher.js';
import { secretHandle } from '../access/secrets.js';

/** How many characters masks may add to a value in total. Beyond that, secrets are removed without a mask. */
const MAX_GROWTH = 1_048_576;
/** The minimum length of a value whose encodings are searched for: shorter encodings occur in ordinary text. */
const MIN_ENCODED = 8;
const MAX_DEPTH = 500;

/** A private value and its replacement. */
export interface Masked {
  readonly value: string;
  readonly mask: string;
}

/**
 * Replaces every occurrence of private values in text, object keys and numbers by their masks, so that a tool cannot
 * reveal the secrets it received. Finds the value itself, the value as escaped in JSON, and, from 8 characters on, its
 * base64, hex and percent-encoded forms. Overlapping occurrences are replaced as a whole. Takes time linear in the
 * length of the text and of all values together.
 */
export class Scrubber {
  readonly #masks: readonly string[];
  readonly #matcher: PatternMatcher | undefined;

  constructor(masked: Iterable<Masked>) {
    const forms = [...masked].flatMap(({ value, mask }) => formsOf(value).map((form) => ({ form, mask })));
    this.#masks = forms.map(({ mask }) => mask);
    this.#matcher = forms.length === 0 ? undefined : new PatternMatcher(forms.map(({ form }) => form));
  }

  /**
   * Creates a scrubber that replaces each secret by its handle.
   * @param secrets the values by name
   */
  static ofSecrets(secrets: ReadonlyMap<string, string>): Scrubber {
    return new Scrubber([...secrets].map(([name, value]) => ({ value, mask: secretHandle(name) })));
  }

  /**
   * Returns the value without secrets: the same object when it has none to search for. Also replaces what is nested
   * deeper than 500 levels.
   */
  value(value: JsonValue): JsonValue {
    const clean = this.#cleaner();
    if (clean === undefined) return value;
    const walk = (item: JsonValue, depth: number): JsonValue => {
      if (typeof item === 'string') return clean(item);
      if (typeof item === 'number') return numberOrMask(item, clean);
      if (typeof item !== 'object' || item === null) return item;
      if (depth >= MAX_DEPTH) return '[nested too deeply]';
      if (!isJsonObject(item)) return item.map((entry) => walk(entry, depth + 1));
      const entries = Object.entries(item);
      return Object.fromEntries(entries.map(([key, entry]) => [clean(key), walk(entry, depth + 1)]));
    };
    return walk(value, 0);
  }

  /** Returns the text without secrets. */
  text(text: string): string {
    return this.#cleaner()?.(text) ?? text;
  }

  /**
   * Returns the result of a tool without secrets, truncated to `maxBytes`. A secret that crosses the end is removed as
   * a whole.
   */
  result(result: JsonValue, maxBytes: number): JsonValue {
    const text = resultText(result);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) return cutTo(this.#head(text, maxBytes), maxBytes, bytes);
    const clean = this.value(result);
    return clean === result ? clean : bounded(clean, maxBytes);
  }

  /**
   * Returns the first characters of a text without secrets. Searches beyond them by the length of the longest secret,
   * to find one that crosses the end.
   */
  #head(text: string, characters: number): string {
    const matcher = this.#matcher;
    if (matcher === undefined) return text.slice(0, characters);
    const searched = text.slice(0, characters + matcher.longest);
    return this.#replace(searched, matcher, characters, { growth: 0 });
  }

  #cleaner(): ((text: string) => string) | undefined {
    const matcher = this.#matcher;
    if (matcher === undefined) return undefined;
    const budget = { growth: 0 };
    return (text) => this.#replace(text, matcher, text.length, budget);
  }

  /**
   * @param shown how many characters of the text are kept; a secret that starts within them is replaced, wherever it
   * ends
   */
  #replace(text: string, matcher: PatternMatcher, shown: number, budget: { growth: number }): string {
    const matches = matcher.find(text);
    if (matches.length === 0) return text.slice(0, shown);
    const pieces: string[] = [];
    let done = 0;
    for (const { start, end, pattern } of matches) {
      if (start >= shown) break;
      const mask = this.#masks[pattern] ?? '';
      budget.growth += mask.length - (end - start);
      pieces.push(text.slice(done, start), budget.growth > MAX_GROWTH ? '' : mask);
      done = end;
    }
    if (done < shown) pieces.push(text.slice(done, shown));
    return pieces.join('');
  }
}

/** A secret that consists of digits may be returned as a number. */
function numberOrMask(item: number, clean: (text: string) => string): JsonValue {
  const text = String(item);
  const cleaned = clean(text);
  return cleaned === text ? item : cleaned;
}

function bounded(result: JsonValue, maxBytes: number): JsonValue {
  const text = resultText(result);
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? cutTo(text, maxBytes, bytes) : result;
}

function cutTo(text: string, maxBytes: number, bytes: number): string {
  const head = Buffer.from(text).subarray(0, maxBytes);
  // `stream` omits a character that is cut.
  const cut = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: true });
  return `${cut}… [cut: the result has ${String(bytes)} bytes]`;
}

/** Returns a value with its encoded forms. */
function formsOf(value: string): readonly string[] {
  if (value === '') return [];
  const json = JSON.stringify(value).slice(1, -1);
  if (value.length < MIN_ENCODED) return [...new Set([value, json])];
  const bytes = Buffer.from(value);
  const forms = [
    value,
    json,
    encodeURIComponent(value.toWellFormed()),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(forms)];
}
