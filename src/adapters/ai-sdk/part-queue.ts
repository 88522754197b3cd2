/** What waits between the network and the reader of an answer. The writer never waits. */
export class PartQueue<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #end: { readonly error: unknown } | 'done' | undefined;
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#notify();
  }

  /** The reader gets what waits, then the end. */
  end(): void {
    this.#end ??= 'done';
    this.#notify();
  }

  /** The reader gets what waits, then the error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#notify();
  }

  /** Takes over everything that a stream gives. Never rejects: what the stream throws is for the reader. */
  async follow(stream: ReadableStream<T>): Promise<void> {
    try {
      for await (const item of stream) this.push(item);
      this.end();
    } catch (error) {
      this.fail(error);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const item = this.#items[this.#head];
      if (item !== undefined) {
        this.#head++;
        yield item;
      } else if (this.#end === 'done') return;
      else if (this.#end !== undefined) throw this.#end.error;
      else {
        this.#items = [];
        this.#head = 0;
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
