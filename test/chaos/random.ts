/** A generator of one actor's choices: the same words give the same choices (xmur3 and mulberry32). */
export class Random {
  #state: number;

  constructor(...words: readonly (string | number)[]) {
    let hash = 1779033703;
    for (const char of words.join('\0')) {
      hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 3432918353);
      hash = (hash << 13) | (hash >>> 19);
    }
    this.#state = hash >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  /** Both bounds included. */
  integer(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.integer(0, items.length - 1)] ?? items[0];
  }

  /** The same things in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }

  /** One of the names, as likely as its weight says. */
  weigh<T extends string>(weights: readonly (readonly [T, number])[], otherwise: T): T {
    const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [name, weight] of weights) {
      left -= weight;
      if (left < 0) return name;
    }
    return otherwise;
  }

  /** A UUID of version 4 in form. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.integer(0, 15).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}
