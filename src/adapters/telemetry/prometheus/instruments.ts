/** What one labelled series says now. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a counter or a gauge; how often a histogram was told something. */
  readonly value: number;
}

/** A series of a histogram. */
export interface HistogramSeries extends Series {
  readonly sum: number;
  /**
   * How many values were at most `le`, from the smallest bound on. The values above the last bound are in `value`
   * alone.
   */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
}

/** A metric with all its series, as it is now. */
export type Reading = { readonly name: string; readonly help: string } & (
  | { readonly kind: 'counter' | 'gauge'; readonly series: readonly Series[] }
  | { readonly kind: 'histogram'; readonly series: readonly HistogramSeries[] }
);

/** Something that can be read. */
export interface Instrument {
  read(): Reading;
}

/** A belt: labels are bounded where they are given; beyond so many series all go into one, labelled `other`. */
const MAX_SERIES = 1_000;
const OTHER = 'other';

/** Series that have their first labels in common, and on it those that have one more. */
interface Branch<T> {
  child: T | undefined;
  readonly branches: Map<string, Branch<T>>;
}

/**
 * The series of a metric, by their labels. They are found label by label: putting labels together into one key would
 * make a text each time. What counts often keeps its series (`requests.ts`).
 */
class Family<T> {
  readonly #tree: Branch<T> = { child: undefined, branches: new Map<string, Branch<T>>() };
  readonly #series: { readonly values: readonly string[]; readonly child: T }[] = [];

  constructor(
    private readonly labels: readonly string[],
    private readonly make: () => T,
  ) {
    // Without labels there is one series, from the start: it says 0 rather than nothing.
    if (labels.length === 0) this.child();
  }

  /** The series with these labels, in the order of their names. */
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

/** One number. */
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

  /** What counts for these labels, for whoever counts often. */
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

  /** The value of these labels, for whoever changes it often. */
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

/** How values, such as times in seconds, are spread. */
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

  /** What is told of these labels, for whoever tells often. */
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

/** How many values fell where. */
export class Spread {
  count = 0;
  sum = 0;
  /** How many values fell into each bucket and no lower one. */
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
