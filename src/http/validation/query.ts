import { RefusedError } from '../../core/model/refusal.js';

/** The requested query parameters, each as text, or as a list of texts if it occurs more than once. */
export type QueryValues = Readonly<Record<string, string | readonly string[]>>;

const NONE: QueryValues = Object.freeze({});

/** Maximum length of an encoded name; longer ones are skipped. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads some parameters from the query of a request target (`application/x-www-form-urlencoded`). Skips all others
 * without decoding their values.
 * @param url the request target
 * @param names the parameters to read
 * @throws RefusedError `invalid` when a value is not percent-encoded UTF-8 (RFC 3986 §2.1)
 */
export function readQuery(url: string, names: ReadonlySet<string>): QueryValues {
  const start = url.indexOf('?') + 1;
  if (start === 0) return NONE;
  const found = new Map<string, string | readonly string[]>();
  for (let from = start; from < url.length;) {
    const next = url.indexOf('&', from);
    const to = next === -1 ? url.length : next;
    if (to > from) readPair(url.slice(from, to), names, found);
    from = to + 1;
  }
  return found.size === 0 ? NONE : Object.fromEntries(found);
}

/** Reads `name=value` if the name is requested. */
function readPair(
  pair: string,
  names: ReadonlySet<string>,
  found: Map<string, string | readonly string[]>,
): void {
  const equals = pair.indexOf('=');
  const name = nameOf(equals === -1 ? pair : pair.slice(0, equals));
  if (name === undefined || !names.has(name)) return;
  const known = found.get(name);
  // A third value changes nothing: repeated parameters are refused anyway.
  if (known !== undefined && typeof known !== 'string') return;
  const value = equals === -1 ? '' : valueOf(name, pair.slice(equals + 1));
  found.set(name, known === undefined ? value : [known, value]);
}

/** Decodes a name; undefined when it cannot be a requested name. */
function nameOf(encoded: string): string | undefined {
  if (encoded.length > MAX_NAME_LENGTH) return undefined;
  return encoded.includes('%') || encoded.includes('+') ? decode(encoded) : encoded;
}

function valueOf(name: string, encoded: string): string {
  const value = decode(encoded);
  if (value !== undefined) return value;
  const message = `${name} is not percent-encoded UTF-8`;
  throw new RefusedError('invalid', message, [{ path: name, message }]);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
