/** What is to be closed in the end: the last that was opened first. */
export class Closing {
  readonly #closers: (() => Promise<void>)[] = [];
  #closed: Promise<void> | undefined;

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** Closes all of it, also when one of them fails. Safe to call more than once. @throws what the first failed with */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      await close().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }
}
