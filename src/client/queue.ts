/** A queue of several producers and one consumer, in order. The iteration ends when the queue is closed and empty. */
export class Queue<T extends object | string> implements AsyncIterable<T> {
  #items: T[] = [];
  #taken: T[] = [];
  #isClosed = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  push(item: T): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#wake();
  }

  /**
   * Rejects further items.
   * @param failure thrown to the consumer after the last item
   */
  close(failure?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure = failure;
    this.#wake();
  }

  /** The items that the consumer has not taken yet. */
  get waiting(): readonly T[] {
    return [...this.#taken, ...this.#items];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      this.#taken = this.#items;
      this.#items = [];
      for (let item = this.#taken.shift(); item !== undefined; item = this.#taken.shift()) yield item;
      if (this.#items.length > 0) continue;
      if (this.#isClosed) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
