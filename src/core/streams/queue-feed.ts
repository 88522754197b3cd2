import type { Feed } from '../model/feed.js';

/** A consumer may fall this far behind, in bytes or nearly so. */
export const MAX_BACKLOG = 1_048_576;

/** Who takes the items, and is told of the end. */
interface Consumer<T> {
  readonly take: (item: T) => Promise<void> | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A queue between one producer, who never waits, and one consumer, who takes its time. Beyond `MAX_BACKLOG` the
 * queue is dropped and the feed ends with `overflowed`: memory stays bounded whatever the consumer does.
 *
 * An item goes to a consumer who waits for it at once, without a promise: every token of every stream is an item.
 */
export class QueueFeed<T> implements Feed<T> {
  #items: { readonly value: T; readonly weight: number }[] = [];
  #head = 0;
  #backlog = 0;
  #ended = false;
  #released = false;
  #consumer: Consumer<T> | undefined;
  /** The consumer has not come, or is not through with what it has. */
  #isHeld = true;
  #drained: (() => void)[] = [];
  overflowed = false;

  /** @param weigh bytes of an item, roughly; @param onClose lets go of what feeds it, called once */
  constructor(
    private readonly weigh: (item: T) => number,
    private readonly onClose: () => void,
  ) {}

  /**
   * Adds an item; ignored after the end.
   * @param isPast what is told of the past, at once and as it stands in memory already: it does not count as backlog
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

  /** No more items: the consumer gets what is queued, then the end. */
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

  /** Resolves once everything queued was taken, or the feed has ended. */
  drained(): Promise<void> {
    if (this.#ended || this.#items.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives what waits. What is pushed meanwhile goes behind it. */
  #goOn(): void {
    for (let item = this.#shift(); item !== undefined; item = this.#shift()) {
      if (!this.#give(item.value)) return;
    }
    if (this.#ended) this.#consumer?.resolve();
    else this.#isHeld = false;
  }

  /** False when the consumer is not through with it yet, or has failed. */
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
