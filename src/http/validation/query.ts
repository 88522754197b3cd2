import { RefusedError } from '../../core/model/refusal.js';

/**
 * The parameters of a query that somebody asked for, each as text, or as a list of texts where it was given more than
 * once.
 */
export type QueryValues = Readonly<Record<string, string | readonly string[]>>;

const NONE: QueryValues = Object.freeze({});

/** So much of an encoded name is read: a known one is far shorter, however it is spelled. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads some parameters of a request target's query, encoded as forms encode them
 * (`application/x-www-form-urlencoded`). All others are skipped unread, however many there are and however they are
 * spelled.
 * @param url the request target
 * @param names the parameters to read
 * @throws RefusedError `invalid` for a value that is not UTF-8 in percent-encoding (RFC 3986 §2.1)
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

/** Reads `name=value`, if somebody asked for the name. */
function readPair(
  pair: string,
  names: ReadonlySet<string>,
  found: Map<string, string | readonly string[]>,
): void {
  const equals = pair.indexOf('=');
  const name = nameOf(equals === -1 ? pair : pair.slice(0, equals));
  if (name === undefined || !names.has(name)) return;
  const known = found.get(name);
  // A third value changes nothing: what is given twice is refused.
  if (known !== undefined && typeof known !== 'string') return;
  const value = equals === -1 ? '' : valueOf(name, pair.slice(equals + 1));
  found.set(name, known === undefined ? value : [known, value]);
}

/** The name that an encoded one stands for; undefined for what no known name can be. */
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
