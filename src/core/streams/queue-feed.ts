import type { Feed } from '../model/feed.js';

/** How much a consumer may have queued, in bytes (estimated). */
export const MAX_BACKLOG = 1_048_576;

/** The consumer's callbacks. */
interface Consumer<T> {
  readonly take: (item: T) => Promise<void> | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A queue between one producer, which never waits, and one consumer, which may be slow. When the backlog exceeds
 * `MAX_BACKLOG`, the queue is dropped and the feed ends with `overflowed`, so that memory stays bounded.
 *
 * Items bypass the queue, without a promise, while the consumer is idle, because every token of every stream is an
 * item.
 */
export class QueueFeed<T> implements Feed<T> {
  #items: { readonly value: T; readonly weight: number }[] = [];
  #head = 0;
  #backlog = 0;
  #ended = false;
  #released = false;
  #consumer: Consumer<T> | undefined;
  /** True until the consumer is attached, and while it is busy with an item. */
  #isHeld = true;
  #drained: (() => void)[] = [];
  overflowed = false;

  /**
   * @param weigh estimates the size of an item, in bytes
   * @param onClose detaches the producer, called once
   */
  constructor(
    private readonly weigh: (item: T) => number,
    private readonly onClose: () => void,
  ) {}

  /**
   * Adds an item. Ignored after the end.
   * @param isPast true for replayed items that are in memory anyway: they do not count as backlog
   */
  push(item: T, isPast = false): void {
    if (this.#ended) return;
    if (!this.#isHeld) {
      this.#isHeld = true;
      if (this.#give(item)) this.#goOn();
      return;
    }
    const weight = isPast ? 0 : this.weigh(item);
    if (this.#backlog + weight > MAX_BACKLOG) {
      this.overflowed = true;
      this.close();
      return;
    }
    this.#items.push({ value: item, weight });
    this.#backlog += weight;
  }

  each(take: (item: T) => Promise<void> | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#consumer = { take, resolve, reject };
      this.#goOn();
    });
  }

  /** Ends the feed: the consumer receives the queued items, then the end. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.#isHeld) this.#consumer?.resolve();
    this.#release();
  }

  close(): void {
    this.#items = [];
    this.#head = 0;
    this.#backlog = 0;
    this.end();
  }

  /** Resolves once the queue is empty or the feed has ended. */
  drained(): Promise<void> {
    if (this.#ended || this.#items.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Delivers queued items until the consumer is busy. Items pushed during that are queued behind them. */
  #goOn(): void {
    for (let item = this.#shift(); item !== undefined; item = this.#shift()) {
      if (!this.#give(item.value)) return;
    }
    if (this.#ended) this.#consumer?.resolve();
    else this.#isHeld = false;
  }

  /** Delivers one item. Returns false when the consumer is still busy with it, or has failed. */
  #give(item: T): boolean {
    try {
      const busy = this.#consumer?.take(item);
      if (busy === undefined) return true;
      busy.then(
        () => {
          this.#goOn();
        },
        (error: unknown) => {
          this.#fail(error);
        },
      );
    } catch (error) {
      this.#fail(error);
    }
    return false;
  }

  #fail(error: unknown): void {
    this.#consumer?.reject(error);
    this.close();
  }

  #shift(): { readonly value: T } | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    this.#backlog -= item.weight;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
      this.#settleDrained();
    }
    return item;
  }

  #release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#settleDrained();
    this.onClose();
  }

  #settleDrained(): void {
    const waiting = this.#drained;
    this.#drained = [];
    for (const resolve of waiting) resolve();
  }
}
