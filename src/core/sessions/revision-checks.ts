import type { Store } from '../ports/store.js';

type Revision = number | 'deleted' | 'unknown';

interface Question {
  readonly id: string;
  readonly resolve: (revision: Revision) => void;
  readonly reject: (error: unknown) => void;
}

/** How many ids are asked for at once. */
const BATCH = 500;

/**
 * Asks the store how far sessions have come. Whoever asks while a question is under way goes with the next one, so that
 * however many ask, the store has one question at a time; and every answer is younger than its question.
 */
export class Revisions {
  #waiting: Question[] = [];
  #isAsking = false;

  constructor(private readonly store: Pick<Store, 'revisionOf' | 'heads'>) {}

  /** @throws StoreUnavailableError */
  of(id: string): Promise<Revision> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      if (!this.#isAsking) void this.#ask();
    });
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.length > 0) {
      const asked = this.#waiting.splice(0, BATCH);
      try {
        const revisions = await this.#read([...new Set(asked.map(({ id }) => id))]);
        for (const { id, resolve } of asked) resolve(revisions.get(id) ?? 'unknown');
      } catch (error) {
        // A store that fails takes its time for it: those who have waited for that need not wait as long again.
        for (const { reject } of [...asked, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#isAsking = false;
  }

  async #read(ids: readonly string[]): Promise<ReadonlyMap<string, Revision>> {
    const [only] = ids;
    if (only !== undefined && ids.length === 1) return new Map([[only, await this.store.revisionOf(only)]]);
    const heads = await this.store.heads(ids);
    return new Map([...heads].map(([id, head]) => [id, head === 'deleted' ? head : head.revision]));
  }
}
