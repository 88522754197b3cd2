import type { Feed } from './core.js';

/** A consumer may fall this far behind, in bytes or nearly so. */
export const MAX_BACKLOG = 1_048_576;

const OVER = { done: true, value: undefined } as const;

/**
 * A queue between one producer, who never waits, and one consumer, who takes its time. Beyond `MAX_BACKLOG` the
 * queue is dropped and the feed ends with `overflowed`: memory stays bounded whatever the consumer does.
 */
export class QueueFeed<T> implements Feed<T> {
  #items: { readonly value: T; readonly weight: number }[] = [];
  #head = 0;
  #backlog = 0;
  #ended = false;
  #closed = false;
  /** The consumer, while it waits. */
  #reader: ((result: IteratorResult<T, undefined>) => void) | null = null;
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
    const weight = isPast ? 0 : this.weigh(item);
    if (this.#backlog + weight > MAX_BACKLOG) {
      this.overflowed = true;
      this.close();
      return;
    }
    const reader = this.#reader;
    this.#reader = null;
    if (reader !== null) {
      reader({ done: false, value: item });
      return;
    }
    this.#items.push({ value: item, weight });
    this.#backlog += weight;
  }

  /** No more items: the consumer gets what is queued, then the end. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader?.(OVER);
    this.#reader = null;
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

  /** By hand: a generator makes three promises for an item, this makes one, and every token of every stream is an item. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.close();
        return Promise.resolve(OVER);
      },
    };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#take();
    if (item !== undefined) return Promise.resolve({ done: false, value: item.value });
    if (this.#ended) return Promise.resolve(OVER);
    return new Promise((resolve) => (this.#reader = resolve));
  }

  #take(): { readonly value: T } | undefined {
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
    if (this.#closed) return;
    this.#closed = true;
    this.#settleDrained();
    this.onClose();
  }

  #settleDrained(): void {
    const waiting = this.#drained;
    this.#drained = [];
    for (const resolve of waiting) resolve();
  }
}
