import { isJsonObject, type JsonValue } from './json.js';
import { secretHandle } from './secrets.js';

/** How much longer the handles may make a value, in characters; from there on secrets are taken out without one. */
const MAX_GROWTH = 1_048_576;
/** Encodings of a shorter value are found in ordinary words. */
const MIN_ENCODED = 8;
const MAX_DEPTH = 500;

/** A form in which a secret may come back, and what stands for it. */
interface Known {
  readonly form: string;
  readonly handle: string;
}

/**
 * A value with every occurrence of a secret replaced by its handle, in texts, keys and numbers: a tool must not give away
 * what it was lent. Found are the value itself, and, from 8 characters on, the whole of it in base64, hex, percent-encoding or
 * as JSON text. Where secrets overlap, all that they cover goes. What is nested deeper than 500 levels is left out.
 */
export function scrub(value: JsonValue, secrets: ReadonlyMap<string, string>): JsonValue {
  const known = findKnown(value, secrets);
  if (known.length === 0) return value;
  let growth = 0;
  const handleFor = ({ handle }: Known, length: number): string => {
    growth += handle.length - length;
    return growth > MAX_GROWTH ? '' : handle;
  };
  const clean = (text: string): string => replaceKnown(text, known, handleFor);
  const walk = (item: JsonValue, depth: number): JsonValue => {
    if (typeof item === 'string') return clean(item);
    if (typeof item === 'number') return numberOrHandle(item, clean);
    if (typeof item !== 'object' || item === null) return item;
    if (depth >= MAX_DEPTH) return '[nested too deeply]';
    if (!isJsonObject(item)) return item.map((entry) => walk(entry, depth + 1));
    return Object.fromEntries(
      Object.entries(item).map(([key, entry]) => [clean(key), walk(entry, depth + 1)]),
    );
  };
  return walk(value, 0);
}

/** The forms of secrets that the value holds anywhere: mostly none, and then nothing is copied. */
function findKnown(value: JsonValue, secrets: ReadonlyMap<string, string>): readonly Known[] {
  const known = [...secrets].flatMap(([name, secret]) =>
    formsOf(secret).map((form) => ({ form, handle: secretHandle(name) })),
  );
  if (known.length === 0) return known;
  let json: string;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    // Nested too deeply to be written as a whole.
    if (error instanceof RangeError) return known;
    throw error;
  }
  return known.filter(({ form }) => json.includes(asJsonText(form)));
}

function asJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A secret of digits may come back as a number. */
function numberOrHandle(item: number, clean: (text: string) => string): JsonValue {
  const text = String(item);
  const cleaned = clean(text);
  return cleaned === text ? item : cleaned;
}

/** In one pass, so that no handle is taken for another secret. */
function replaceKnown(
  text: string,
  known: readonly Known[],
  handleFor: (known: Known, length: number) => string,
): string {
  let pending = known.flatMap((entry) => occurrence(text, entry, 0));
  if (pending.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  while (pending.length > 0) {
    // The leftmost; of those that begin there, the longest.
    const first = pending.reduce((best, next) =>
      next.at < best.at || (next.at === best.at && next.known.form.length > best.known.form.length)
        ? next
        : best,
    );
    const end = endOfOverlap(text, pending, first);
    pieces.push(text.slice(done, first.at), handleFor(first.known, end - first.at));
    done = end;
    pending = pending.flatMap((next) => (next.at >= end ? [next] : occurrence(text, next.known, end)));
  }
  pieces.push(text.slice(done));
  return pieces.join('');
}

interface Occurrence {
  readonly known: Known;
  readonly at: number;
}

function occurrence(text: string, known: Known, from: number): Occurrence[] {
  const at = text.indexOf(known.form, from);
  return at < 0 ? [] : [{ known, at }];
}

/** Where the last of the secrets ends that overlap with this one, directly or through others. */
function endOfOverlap(text: string, pending: readonly Occurrence[], first: Occurrence): number {
  let end = first.at + first.known.form.length;
  for (let before = 0; before !== end;) {
    before = end;
    for (const { known, at } of pending) {
      if (at >= end) continue;
      // Of those that begin inside, the last one reaches the furthest.
      const { length } = known.form;
      const from = Math.max(at, end - length + 1);
      const last = text.slice(from, end - 1 + length).lastIndexOf(known.form);
      if (last >= 0) end = from + last + length;
    }
  }
  return end;
}

/** A value as it is, and as it may come back. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < MIN_ENCODED) return secret === '' ? [] : [secret];
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    asJsonText(secret),
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
  return [...new Set(forms)];
}
