import type { Feed } from './core.js';

/** A consumer may fall this far behind, in bytes or nearly so. */
export const MAX_BACKLOG = 1_048_576;

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
  #wake: (() => void) | null = null;
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
    this.#items.push({ value: item, weight });
    this.#backlog += weight;
    if (this.#backlog > MAX_BACKLOG) {
      this.overflowed = true;
      this.close();
    } else this.#notify();
  }

  /** No more items: the consumer gets what is queued, then the end. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#notify();
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

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const item = this.#take();
        if (item !== undefined) yield item.value;
        else if (this.#ended) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.close();
    }
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

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
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
