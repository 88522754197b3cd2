/** How many names a node takes from clients that send no App key, and how many more from those that send one. */
const MAX_NAMES = 200;

/** What a client is counted as that gives no name, and one whose name comes after too many others. */
export const UNNAMED = 'none';
/** The name that the latter is counted by. */
export const OTHER = 'other';

/** The product token of a `User-Agent` (RFC 9110, 10.1.5) without its version. */
export function productOf(userAgent: string): string {
  return /^[\w!#$%&'*+.^`|~-]{1,64}(?=$|[/\s(])/.exec(userAgent.trimStart())?.[0] ?? UNNAMED;
}

/**
 * Bounds how many names of clients are counted, so that a stranger who makes names up fills neither the store nor the
 * report. Names that were counted before are kept, and those that come with a known App key have room of their own:
 * made-up ones cannot push them out.
 */
export class ClientNames {
  readonly #names = new Set<string>();
  #keyed = 0;

  /** @param known the names that were counted lately */
  constructor(known: readonly string[]) {
    for (const name of known.slice(0, 2 * MAX_NAMES)) this.#names.add(name);
  }

  /** The name to count a client by: its own, or `other`. */
  admit(name: string, hasKey: boolean): string {
    if (name === UNNAMED || name === OTHER || this.#names.has(name)) return name;
    if (hasKey ? this.#keyed >= MAX_NAMES : this.#names.size - this.#keyed >= MAX_NAMES) return OTHER;
    this.#names.add(name);
    if (hasKey) this.#keyed += 1;
    return name;
  }
}
