/** How many client names a node counts without an App key, and how many more with a known App key. */
const MAX_NAMES = 200;

/** The name for clients that send no usable `User-Agent`. */
export const UNNAMED = 'none';
/** The name for clients beyond the limit of distinct names. */
export const OTHER = 'other';

/** The product token of a `User-Agent` (RFC 9110, 10.1.5) without its version. */
export function productOf(userAgent: string): string {
  return /^[\w!#$%&'*+.^`|~-]{1,64}(?=$|[/\s(])/.exec(userAgent.trimStart())?.[0] ?? UNNAMED;
}

/**
 * Bounds the number of distinct client names, so that made-up `User-Agent` values fill neither the store nor the
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
