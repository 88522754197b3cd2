/** The current value of one labeled series. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a counter or gauge; the number of observations of a histogram. */
  readonly value: number;
}

export interface HistogramSeries extends Series {
  readonly sum: number;
  /** Cumulative counts by ascending upper bound. Values above the last bound count only in `value`. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
}

/** The current values of a metric, with all its series. */
export type Reading = { readonly name: string; readonly help: string } & (
  | { readonly kind: 'counter' | 'gauge'; readonly series: readonly Series[] }
  | { readonly kind: 'histogram'; readonly series: readonly HistogramSeries[] }
);

export interface Instrument {
  read(): Reading;
}

/** Safety limit of the series of a metric: further label values are counted in one series labeled `other`. */
const MAX_SERIES = 1_000;
const OTHER = 'other';

/** A node of the label tree: the series with the labels of its path, and the branches by the next label. */
interface Branch<T> {
  child: T | undefined;
  readonly branches: Map<string, Branch<T>>;
}

/**
 * The series of a metric in a tree by label values, because a concatenated key would allocate a string per lookup.
 * Callers that count often keep the series itself (`requests.ts`).
 */
class Family<T> {
  readonly #tree: Branch<T> = { child: undefined, branches: new Map<string, Branch<T>>() };
  readonly #series: { readonly values: readonly string[]; readonly child: T }[] = [];

  constructor(
    private readonly labels: readonly string[],
    private readonly make: () => T,
  ) {
    // A metric without labels has one series from the start, so that it reports 0 instead of being absent.
    if (labels.length === 0) this.child();
  }

  /** Returns the series with these label values, in the order of the label names. */
  child(...values: readonly string[]): T {
    let branch = this.#tree;
    for (const value of values) branch = branch.branches.get(value) ?? this.#grow(branch, value);
    return branch.child ?? this.#plant(branch, values);
  }

  #grow({ branches }: Branch<T>, value: string): Branch<T> {
    const branch = { child: undefined, branches: new Map<string, Branch<T>>() };
    if (this.#series.length < MAX_SERIES || value === OTHER) branches.set(value, branch);
    return branch;
  }

  #plant(branch: Branch<T>, values: readonly string[]): T {
    if (this.#series.length >= MAX_SERIES && values.some((value) => value !== OTHER)) {
      return this.child(...this.labels.map(() => OTHER));
    }
    const child = this.make();
    branch.child = child;
    this.#series.push({ values, child });
    return child;
  }

  map<S>(show: (labels: Readonly<Record<string, string>>, child: T) => S): S[] {
    return this.#series.map(({ values, child }) =>
      show(Object.fromEntries(this.labels.map((label, index) => [label, values[index] ?? ''])), child),
    );
  }
}

export class Cell {
  value = 0;

  add(by: number): void {
    this.value += by;
  }
}

/** A number that only grows; its name ends in `_total`. */
export class Counter implements Instrument {
  readonly #family: Family<Cell>;

  constructor(
    private readonly name: string,
    private readonly help: string,
    labels: readonly string[] = [],
  ) {
    this.#family = new Family(labels, () => new Cell());
  }

  add(by: number, ...labels: readonly string[]): void {
    this.series(...labels).add(by);
  }

  /** The series with these labels, for callers that update it often. */
  series(...labels: readonly string[]): Cell {
    return this.#family.child(...labels);
  }

  read(): Reading {
    const series = this.#family.map((labels, { value }) => ({ labels, value }));
    return { name: this.name, help: this.help, kind: 'counter', series };
  }
}

/** A number that goes up and down. */
export class Gauge implements Instrument {
  readonly #family: Family<Cell>;

  constructor(
    private readonly name: string,
    private readonly help: string,
    labels: readonly string[] = [],
  ) {
    this.#family = new Family(labels, () => new Cell());
  }

  add(by: number, ...labels: readonly string[]): void {
    this.series(...labels).add(by);
  }

  /** The series with these labels, for callers that update it often. */
  series(...labels: readonly string[]): Cell {
    return this.#family.child(...labels);
  }

  set(value: number, ...labels: readonly string[]): void {
    this.series(...labels).value = value;
  }

  read(): Reading {
    const series = this.#family.map((labels, { value }) => ({ labels, value }));
    return { name: this.name, help: this.help, kind: 'gauge', series };
  }
}

/** A distribution of values, such as times in seconds. */
export class Histogram implements Instrument {
  readonly #family: Family<Spread>;

  /** @param bounds upper bounds of the buckets, ascending */
  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly bounds: readonly number[],
    labels: readonly string[] = [],
  ) {
    this.#family = new Family(labels, () => new Spread(bounds));
  }

  observe(value: number, ...labels: readonly string[]): void {
    this.series(...labels).add(value);
  }

  /** The series with these labels, for callers that update it often. */
  series(...labels: readonly string[]): Spread {
    return this.#family.child(...labels);
  }

  read(): Reading {
    const series = this.#family.map((labels, spread) => {
      let count = 0;
      const buckets = this.bounds.map((le, index) => ({ le, count: (count += spread.counts[index] ?? 0) }));
      return { labels, value: spread.count, sum: spread.sum, buckets };
    });
    return { name: this.name, help: this.help, kind: 'histogram', series };
  }
}

/** One series of a histogram. */
export class Spread {
  count = 0;
  sum = 0;
  /** The counts per bucket, not cumulative. */
  readonly counts: number[];

  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  add(value: number): void {
    this.count += 1;
    this.sum += value;
    const index = this.bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.counts[index] = (this.counts[index] ?? 0) + 1;
  }
}
