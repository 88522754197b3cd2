import { isJsonObject, type JsonValue } from '../model/json.js';
import { resultText } from '../model/message.js';
import { PatternMatcher } from './pattern-matcher.js';
import { secretHandle } from '../access/secrets.js';

/** How much longer the masks may make a value, in characters; from there on secrets are removed without a mask. */
const MAX_GROWTH = 1_048_576;
/** Encodings of a shorter value occur in ordinary words. */
const MIN_ENCODED = 8;
const MAX_DEPTH = 500;

/** A value that must not be shown, and what is shown in its place. */
export interface Masked {
  readonly value: string;
  readonly mask: string;
}

/**
 * Replaces every occurrence of private values by their masks, in texts, keys and numbers: a tool must not show what it
 * was lent. It finds the value itself, the value as JSON text, and, from 8 characters on, the whole of it in base64,
 * hex and percent-encoding. Where values overlap, all that they cover is replaced. The time grows with the length of
 * the texts and of all values together.
 */
export class Scrubber {
  readonly #masks: readonly string[];
  readonly #matcher: PatternMatcher | undefined;

  constructor(masked: Iterable<Masked>) {
    const forms = [...masked].flatMap(({ value, mask }) => formsOf(value).map((form) => ({ form, mask })));
    this.#masks = forms.map(({ mask }) => mask);
    this.#matcher = forms.length === 0 ? undefined : new PatternMatcher(forms.map(({ form }) => form));
  }

  /** A scrubber for secrets by name: each is replaced by its handle. */
  static ofSecrets(secrets: ReadonlyMap<string, string>): Scrubber {
    return new Scrubber([...secrets].map(([name, value]) => ({ value, mask: secretHandle(name) })));
  }

  /**
   * The value without secrets: the very value when it holds none. Replaces what is nested deeper than 500 levels, too.
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

  /** The text without secrets. */
  text(text: string): string {
    return this.#cleaner()?.(text) ?? text;
  }

  /**
   * The result of a tool in at most so many bytes, without secrets. It is cut before it is searched; a secret that
   * crosses the cut is removed whole.
   */
  result(result: JsonValue, maxBytes: number): JsonValue {
    const text = resultText(result);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes) return cutTo(this.#head(text, maxBytes), maxBytes, bytes);
    const clean = this.value(result);
    return clean === result ? clean : bounded(clean, maxBytes);
  }

  /**
   * The first characters of a text without secrets: what is searched reaches further than what is shown, by the longest
   * secret.
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
   * @param shown how many characters of the text are shown; a secret that begins among them is replaced, whatever its
   * end
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

/** A secret of digits may come back as a number. */
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
  const cut = Buffer.from(text)
    .subarray(0, maxBytes)
    .toString()
    .replace(/\uFFFD+$/, '');
  return `${cut}… [cut: the result has ${String(bytes)} bytes]`;
}

/** A value as it is, and as it may come back. */
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
