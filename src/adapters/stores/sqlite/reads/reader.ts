import type { Database } from 'better-sqlite3';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { openReading } from '../connections.js';
import { createOverviewReads } from './overview.js';
import { createReads } from './reads.js';
import { createSecretReads } from './sealed-values.js';
import { createTailReader } from './tails.js';
import { createThreadReader } from './threads.js';
import { createUsageReads } from '../rows/usage-table.js';

/** Every read, on one connection, with its statements prepared. */
export type Reads = ReturnType<typeof createAllReads>;

function createAllReads(db: Database) {
  return {
    ...createReads(db),
    ...createSecretReads(db),
    ...createOverviewReads(db),
    ...createUsageReads(db),
    loadThread: createThreadReader(db),
    loadTail: createTailReader(db),
  };
}

/** The reading connection of the main thread, which can be closed while the database is opened again. */
export class Reader {
  readonly #path: string;
  #current: { readonly db: Database; readonly reads: Reads } | undefined;
  #suspended: Error | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The reads; opens the connection when there is none. @throws StoreUnavailableError while it is suspended */
  open(): Reads {
    if (this.#suspended !== undefined)
      throw new StoreUnavailableError('the database is being opened again', { cause: this.#suspended });
    if (this.#current === undefined) {
      const db = openReading(this.#path);
      this.#current = { db, reads: createAllReads(db) };
    }
    return this.#current.reads;
  }

  /** Closes the connection, and opens none until `resume`. */
  suspend(reason: Error): void {
    this.#suspended = reason;
    this.close();
  }

  resume(): void {
    this.#suspended = undefined;
  }

  close(): void {
    this.#current?.db.close();
    this.#current = undefined;
  }
}
