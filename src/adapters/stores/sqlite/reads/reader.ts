import type { Database } from 'better-sqlite3';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { openReading } from '../connections.js';
import { createOverviewReads } from './overview.js';
import { createReads } from './reads.js';
import { createSecretReads } from './sealed-values.js';
import { createTailReader } from './tails.js';
import { createThreadReader } from './threads.js';
import { createWalletReads } from './wallet-reads.js';
import { createActivityReads } from '../rows/activity-table.js';
import { createUsageReads } from '../rows/usage-table.js';

/** All reads on one connection, with their statements prepared. */
export type Reads = ReturnType<typeof createAllReads>;

function createAllReads(db: Database) {
  return {
    ...createReads(db),
    ...createSecretReads(db),
    ...createOverviewReads(db),
    ...createUsageReads(db),
    ...createActivityReads(db),
    ...createWalletReads(db),
    loadThread: createThreadReader(db),
    loadTail: createTailReader(db),
  };
}

/** The read connection of the main thread. It can be suspended while the writer thread reopens the database. */
export class Reader {
  readonly #path: string;
  #current: { readonly db: Database; readonly reads: Reads } | undefined;
  #suspended: Error | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the reads, and opens the connection if necessary. @throws StoreUnavailableError while suspended */
  open(): Reads {
    if (this.#suspended !== undefined)
      throw new StoreUnavailableError('the database is being opened again', { cause: this.#suspended });
    if (this.#current === undefined) {
      const db = openReading(this.#path);
      this.#current = { db, reads: createAllReads(db) };
    }
    return this.#current.reads;
  }

  /** Closes the connection. `open` throws until `resume` is called. */
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
