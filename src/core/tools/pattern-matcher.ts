/** A range of a text that patterns cover. */
export interface Match {
  /** The index of its first character, and the index after its last one. */
  readonly start: number;
  readonly end: number;
  /** The index of the pattern in the constructor's list. */
  readonly pattern: number;
}

const ROOT = 0;
const NONE = -1;

/** Random for each process, so that nobody can craft patterns whose transitions collide in the hash table. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 1;

/**
 * Finds many patterns in one pass over a text (Aho and Corasick, "Efficient string matching", 1975), in time linear in
 * the length of the text and of all patterns together.
 */
export class PatternMatcher {
  /** The length of the longest pattern, in characters. */
  readonly longest: number;
  /** Number of state transitions so far: at most two per character of the patterns and the texts. */
  steps = 0;

  #count = 1;
  readonly #parent: Int32Array;
  readonly #char: Uint16Array;
  /** The state of the longest proper suffix that is a prefix of some pattern. */
  readonly #fail: Int32Array;
  /** The longest pattern that ends in a state or in one of its suffixes; `NONE`: no pattern ends here. */
  readonly #pattern: Int32Array;
  /** A hash table of transitions with open addressing: each slot has the target state. */
  readonly #table: Int32Array;
  readonly #mask: number;

  /** @param patterns empty ones are ignored; of equal ones the first index is reported */
  constructor(private readonly patterns: readonly string[]) {
    const states = patterns.reduce((sum, pattern) => sum + pattern.length, 1);
    this.longest = patterns.reduce((most, { length }) => Math.max(most, length), 0);
    this.#parent = new Int32Array(states);
    this.#char = new Uint16Array(states);
    this.#fail = new Int32Array(states);
    this.#pattern = new Int32Array(states).fill(NONE);
    const size = 2 ** Math.ceil(Math.log2(states * 2));
    this.#table = new Int32Array(size).fill(NONE);
    this.#mask = size - 1;
    const depths = this.#addPatterns();
    this.#linkSuffixes(depths);
  }

  /**
   * Returns the ranges that patterns cover, in order. Overlapping occurrences are merged into one range, which is named
   * after the longest pattern that starts where it starts.
   */
  find(text: string): readonly Match[] {
    const found: { start: number; end: number; pattern: number }[] = [];
    let state = ROOT;
    for (let at = 0; at < text.length; at++) {
      state = this.#next(state, text.charCodeAt(at));
      const pattern = this.#pattern[state] ?? NONE;
      if (pattern === NONE) continue;
      let place = { start: at + 1 - this.#lengthOf(pattern), end: at + 1, pattern };
      for (let last = found.at(-1); last !== undefined && place.start < last.end; last = found.at(-1)) {
        found.pop();
        if (last.start < place.start) place = { ...last, end: place.end };
      }
      found.push(place);
    }
    return found;
  }

  #lengthOf(pattern: number): number {
    return this.patterns[pattern]?.length ?? 0;
  }

  /**
   * Adds a state for each prefix of each pattern.
   * @returns the depth of each state: the length of its prefix
   */
  #addPatterns(): Int32Array {
    const depths = new Int32Array(this.#parent.length);
    this.patterns.forEach((pattern, index) => {
      if (pattern === '') return;
      let state = ROOT;
      for (let at = 0; at < pattern.length; at++) {
        state = this.#childOrNew(state, pattern.charCodeAt(at));
        depths[state] = at + 1;
      }
      if (this.#pattern[state] === NONE) this.#pattern[state] = index;
    });
    return depths;
  }

  /** Sets the failure link of each state, shorter prefixes first. */
  #linkSuffixes(depths: Int32Array): void {
    for (const state of byDepth(depths, this.#count, this.longest)) {
      const parent = this.#parent[state] ?? ROOT;
      const fail = parent === ROOT ? ROOT : this.#next(this.#fail[parent] ?? ROOT, this.#char[state] ?? 0);
      this.#fail[state] = fail;
      if (this.#pattern[state] === NONE) this.#pattern[state] = this.#pattern[fail] ?? NONE;
    }
  }

  #next(from: number, char: number): number {
    let state = from;
    for (;;) {
      this.steps++;
      const child = this.#table[this.#slotOf(state, char)] ?? NONE;
      if (child !== NONE) return child;
      if (state === ROOT) return ROOT;
      state = this.#fail[state] ?? ROOT;
    }
  }

  #childOrNew(state: number, char: number): number {
    const slot = this.#slotOf(state, char);
    const known = this.#table[slot] ?? NONE;
    if (known !== NONE) return known;
    const child = this.#count++;
    this.#parent[child] = state;
    this.#char[child] = char;
    this.#table[slot] = child;
    return child;
  }

  /** Returns the slot of a transition in the table, or the free slot where it belongs. */
  #slotOf(state: number, char: number): number {
    let slot = mix(Math.imul(state, SEED) ^ Math.imul(char + 1, 0x85eb_ca6b)) & this.#mask;
    for (;;) {
      const child = this.#table[slot] ?? NONE;
      if (child === NONE || (this.#parent[child] === state && this.#char[child] === char)) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value ^ SEED;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return hash ^ (hash >>> 16);
}

/** Returns all states except the root, sorted by depth (a counting sort). */
function byDepth(depths: Int32Array, count: number, longest: number): Int32Array {
  const starts = new Int32Array(longest + 2);
  for (let state = 1; state < count; state++) {
    const after = (depths[state] ?? 0) + 1;
    starts[after] = (starts[after] ?? 0) + 1;
  }
  for (let depth = 1; depth < starts.length; depth++)
    starts[depth] = (starts[depth] ?? 0) + (starts[depth - 1] ?? 0);
  const sorted = new Int32Array(count - 1);
  for (let state = 1; state < count; state++) {
    const depth = depths[state] ?? 0;
    const at = starts[depth] ?? 0;
    sorted[at] = state;
    starts[depth] = at + 1;
  }
  return sorted;
}
