interface Reader<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What waits between the network and the reader of an answer. The writer never waits. There is one reader, who waits for each
 * item before it asks for the next. An iterator by hand: a generator makes three promises for an item, this makes one.
 */
export class PartQueue<T> implements AsyncIterableIterator<T, undefined> {
  #items: T[] = [];
  #head = 0;
  #end: { readonly error: unknown } | 'done' | undefined;
  #reader: Reader<T> | undefined;

  /**
   * @param signal when it aborts the reader gets its reason next, whatever waits
   * @param onLeave is called when the reader goes before the end, or finds the signal aborted
   */
  constructor(
    private readonly signal?: AbortSignal,
    private readonly onLeave: () => void = () => undefined,
  ) {}

  push(item: T): void {
    if (this.#end !== undefined) return;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#items.push(item);
    else reader.resolve({ done: false, value: item });
  }

  /** The reader gets what waits, then the end. */
  end(): void {
    this.#finish('done');
  }

  /** The reader gets what waits, then the error. */
  fail(error: unknown): void {
    this.#finish({ error });
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

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.signal?.aborted === true) return this.#leave(this.signal.reason);
    const item = this.#items[this.#head];
    if (item !== undefined) {
      this.#head++;
      return Promise.resolve({ done: false, value: item });
    }
    this.#items = [];
    this.#head = 0;
    if (this.#end !== undefined) return this.#last(this.#end);
    return new Promise((resolve, reject) => (this.#reader = { resolve, reject }));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.onLeave();
    this.#end = 'done';
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #leave(reason: unknown): Promise<IteratorResult<T, undefined>> {
    this.onLeave();
    return this.#last({ error: reason });
  }

  #finish(end: { readonly error: unknown } | 'done'): void {
    if (this.#end !== undefined) return;
    const reader = this.#reader;
    this.#reader = undefined;
    this.#end = reader === undefined ? end : 'done';
    if (end === 'done') reader?.resolve({ done: true, value: undefined });
    else reader?.reject(end.error);
  }

  /** An error is told once, then it is over. */
  async #last(end: { readonly error: unknown } | 'done'): Promise<IteratorResult<T, undefined>> {
    this.#end = 'done';
    if (end !== 'done') throw end.error;
    return Promise.resolve({ done: true, value: undefined });
  }
}
