interface Request<T> {
  readonly resolve: (row: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Waiting<T, Q> {
  readonly query: Q;
  readonly requests: Request<T>[];
}

/**
 * Reads rows by key: concurrent requests share one statement. Few statements are in progress at a time; requests that
 * arrive in between share the next one. Every result is newer than its request.
 */
export class RowReads<T, Q = string> {
  #waiting = new Map<string, Waiting<T, Q>>();
  #reading = 0;
  #isScheduled = false;

  /**
   * @param read reads the rows of these queries, by the keys of the queries; those that do not exist are absent
   * @param options.most how many queries one statement names at most
   * @param options.atOnce how many statements may be in progress
   */
  constructor(
    private readonly read: (queries: readonly Q[]) => Promise<ReadonlyMap<string, T>>,
    private readonly options: { readonly most: number; readonly atOnce: number },
  ) {}

  /**
   * Reads a row; undefined: there is none.
   * @param key identifies the query: equal queries have equal keys
   * @throws StoreUnavailableError
   */
  of(key: string, query: Q): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const request = { resolve, reject };
      const others = this.#waiting.get(key);
      if (others === undefined) this.#waiting.set(key, { query, requests: [request] });
      else others.requests.push(request);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#reading === this.options.atOnce || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    // Waits for the end of this iteration of the event loop, so that its requests share the statement.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#readBatch();
    });
  }

  /** Never rejects. */
  async #readBatch(): Promise<void> {
    const batch = [...this.#waiting].slice(0, this.options.most);
    if (batch.length === this.#waiting.size) this.#waiting = new Map();
    else for (const [key] of batch) this.#waiting.delete(key);
    this.#reading++;
    try {
      const rows = await this.read(batch.map(([, { query }]) => query));
      for (const [key, { requests }] of batch) for (const { resolve } of requests) resolve(rows.get(key));
    } catch (error) {
      // Requests that have waited for a failing store fail too, instead of waiting for another timeout.
      const all = [...batch, ...this.#waiting];
      this.#waiting = new Map();
      for (const [, { requests }] of all) for (const { reject } of requests) reject(error);
    } finally {
      this.#reading--;
      this.#schedule();
    }
  }
}
