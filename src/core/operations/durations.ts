import type { DurationCounts } from '../ports/overview-store.js';

/** In milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Buckets per doubling: a value is at most 4.5 % from the one that its bucket stands for. */
const PER_DOUBLING = 8;

/** A mutable `DurationCounts`. Its size is bounded: a doubling has 8 buckets. */
export class Durations {
  readonly #counts = new Map<number, number>();

  add(milliseconds: number): void {
    const bucket = Math.round(PER_DOUBLING * Math.log2(Math.max(1, milliseconds)));
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  counts(): DurationCounts {
    return Object.fromEntries(this.#counts);
  }
}

/** Returns the percentiles of all counts together; null if there are none. */
export function percentilesOf(all: readonly DurationCounts[]): Percentiles | null {
  const sums = new Map<number, number>();
  let total = 0;
  for (const counts of all) {
    for (const [bucket, count] of Object.entries(counts)) {
      sums.set(Number(bucket), (sums.get(Number(bucket)) ?? 0) + count);
      total += count;
    }
  }
  if (total === 0) return null;
  const sorted = [...sums].sort(([a], [b]) => a - b);
  const at = (share: number): number => {
    let passed = 0;
    for (const [bucket, count] of sorted) {
      passed += count;
      if (passed >= share * total) return Math.round(2 ** (bucket / PER_DOUBLING));
    }
    return 0;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
