/** What producers put in and one consumer takes out, in order. Ends when it is closed and empty. */
export class Queue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #isClosed = false;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  push(item: T): void {
    if (this.#isClosed) return;
    this.#items.push(item);
    this.#wake();
  }

  /** Nothing is taken any more. @param failure what the consumer gets after the last item */
  close(failure?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure = failure;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const items = this.#items;
      this.#items = [];
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#isClosed) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
