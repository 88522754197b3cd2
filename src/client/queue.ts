/** A queue of several producers and one consumer, in order. The iteration ends when the queue is closed and empty. */
export class Queue<T extends object | string> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #isClosed = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  push(item: T): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#wake();
  }

  /** Rejects further items. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Rejects further items, and throws an error to the consumer after the last one. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.#items.splice(0);
      if (this.#items.length > 0) continue;
      if (this.#isClosed) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
