/** How many client names a node counts without an App key, and how many more with a known App key. */
const MAX_NAMES = 200;

/** The name for clients that send neither an `Origin` nor a usable `User-Agent`. */
export const UNNAMED = 'none';
/** The name for clients beyond the limit of distinct names. */
export const OTHER = 'other';

/**
 * Returns the name to count a client by: its `Origin` in lower case, otherwise the product token of its `User-Agent`
 * (RFC 9110, 10.1.5) without the version.
 * @param sent the `Origin` of the request, otherwise its `User-Agent`
 */
export function clientNameOf(sent: string): string {
  const origin = /^[a-z][a-z0-9+.-]{0,30}:\/\/[\w.:[\]-]{1,100}$/i.exec(sent)?.[0];
  if (origin !== undefined) return origin.toLowerCase();
  return /^[\w!#$%&'*+.^`|~-]{1,64}(?=$|[/\s(])/.exec(sent.trimStart())?.[0] ?? UNNAMED;
}

/**
 * Bounds the number of distinct client names, so that made-up names fill neither the store nor the
 * report. Names with a known App key have a limit of their own, which made-up names cannot exhaust.
 */
export class ClientNames {
  readonly #names = new Set<string>();
  #keyed = 0;

  /** @param known the names that were counted recently; they keep their place */
  constructor(known: readonly string[]) {
    for (const name of known.slice(0, 2 * MAX_NAMES)) this.#names.add(name);
  }

  /** Returns the name to count a client by: its own, or `other` when the limit is reached. */
  admit(name: string, hasKey: boolean): string {
    if (name === UNNAMED || name === OTHER || this.#names.has(name)) return name;
    if (hasKey ? this.#keyed >= MAX_NAMES : this.#names.size - this.#keyed >= MAX_NAMES) return OTHER;
    this.#names.add(name);
    if (hasKey) this.#keyed += 1;
    return name;
  }
}
