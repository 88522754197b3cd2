import type { Store } from '../ports/store.js';

type Revision = number | 'deleted' | 'unknown';

interface Check {
  readonly id: string;
  readonly resolve: (revision: Revision) => void;
  readonly reject: (error: unknown) => void;
}

/** How many sessions are checked in one query. */
const BATCH = 500;

/**
 * Reads the current revisions of sessions from the store. Checks that arrive during a query are batched into the next
 * one: the store has one query at a time, and every result is newer than its request.
 */
export class Revisions {
  #waiting: Check[] = [];
  #isReading = false;

  constructor(private readonly store: Pick<Store, 'revisionOf' | 'heads'>) {}

  /** @throws StoreUnavailableError */
  of(id: string): Promise<Revision> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /** Never rejects. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        const revisions = await this.#read([...new Set(batch.map(({ id }) => id))]);
        for (const { id, resolve } of batch) resolve(revisions.get(id) ?? 'unknown');
      } catch (error) {
        // Checks that have waited for a failing store are rejected too, instead of waiting for another timeout.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#isReading = false;
  }

  async #read(ids: readonly string[]): Promise<ReadonlyMap<string, Revision>> {
    const [only] = ids;
    if (only !== undefined && ids.length === 1) return new Map([[only, await this.store.revisionOf(only)]]);
    const heads = await this.store.heads(ids);
    return new Map([...heads].map(([id, head]) => [id, head === 'deleted' ? head : head.revision]));
  }
}
