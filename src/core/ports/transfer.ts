import type { Digests } from './digests.js';
import { StoreUnavailableError } from './store.js';
import {
  compareKeys,
  isSameRow,
  shapeOf,
  TRANSFER_TABLES,
  type TransferRow,
  type TransferTable,
} from './transfer-tables.js';

/** Exports all data of a store, or imports it. The store must not be in use by a service at the same time. */
export interface Transfer {
  /** Identifies the database, however it was named: equal for two connections to the same one. */
  identity(): Promise<string>;
  /**
   * Reads all rows of a table in batches, in the order of `compareKeys`. Rows that are inserted during the iteration
   * are not included.
   */
  rows(table: TransferTable): AsyncIterable<readonly TransferRow[]>;
  /** Counts the rows of a table that `rows` leaves out, because their session or turn does not exist. */
  orphans(table: TransferTable): Promise<number>;
  /**
   * Inserts rows atomically. The sessions that they belong to must exist.
   * @throws Error if one of the rows exists
   */
  insert(table: TransferTable, rows: readonly TransferRow[]): Promise<void>;
  /**
   * Counts the turns that have not ended. `held`: those with a valid lease. A lease with more than `leaseMs` left is
   * not valid: it was granted before the clock was set back and has not been renewed since.
   * @param leaseMs how long a lease is valid without renewal, in milliseconds
   */
  openTurns(leaseMs: number): Promise<{ readonly open: number; readonly held: number }>;
  /** Optimizes the store after many inserts. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** The result of copying one table. */
export interface TableCopy {
  readonly table: TransferTable;
  readonly copied: number;
  /** Rows that the target already had, equal to those of the source. */
  readonly present: number;
  /** Rows that the target has with other values. They stay unchanged. */
  readonly different: number;
  /** Rows of the target that the source does not have. */
  readonly extra: number;
}

/** The number of rows of a table, and a digest of its content. */
export interface Summary {
  readonly rows: number;
  /** SHA-256 over all rows in order, in hex. Independent of the database. */
  readonly digest: string;
}

/** Limits of one insert. They bound its memory, and the work that is lost when it is aborted. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4_000_000;

/**
 * Copies the rows that the target does not have. Resumable: a later call continues where an aborted one stopped.
 * @param progress receives, after each insert and at the end of each table, how many of its rows were processed
 * @returns the completed tables; not all of them if `signal` aborts
 */
export async function copyAll(
  { from, to }: { readonly from: Transfer; readonly to: Transfer },
  signal: AbortSignal,
  progress: (table: TransferTable, rows: number) => void,
): Promise<readonly TableCopy[]> {
  const done: TableCopy[] = [];
  for (const table of TRANSFER_TABLES) {
    const copy = await copyTable(from, to, table, signal, (rows) => {
      progress(table, rows);
    });
    if (copy === undefined) return done;
    done.push(copy);
  }
  return done;
}

/** Merges both sides in key order. Undefined: the signal aborted. */
async function copyTable(
  from: Transfer,
  to: Transfer,
  table: TransferTable,
  signal: AbortSignal,
  progress: (rows: number) => void,
): Promise<TableCopy | undefined> {
  const counts = { copied: 0, present: 0, different: 0, extra: 0 };
  const batch = new Batch((rows) => insertAll(to, table, rows));
  const there = oneByOne(to.rows(table));
  let other = await there.next();
  try {
    for await (const row of oneByOne(from.rows(table))) {
      if (signal.aborted) return undefined;
      while (other.done !== true && compareKeys(table, other.value, row) < 0) {
        counts.extra += 1;
        other = await there.next();
      }
      if (other.done !== true && compareKeys(table, other.value, row) === 0) {
        counts[isSameRow(other.value, row) ? 'present' : 'different'] += 1;
        other = await there.next();
        continue;
      }
      counts.copied += 1;
      if (await batch.add(row)) progress(counts.copied + counts.present + counts.different);
    }
    for (; other.done !== true; other = await there.next()) counts.extra += 1;
    await batch.flush();
  } finally {
    await there.return(undefined);
  }
  progress(counts.copied + counts.present + counts.different);
  return { table, ...counts };
}

/**
 * Inserts rows, one by one if the target refuses them together.
 * @throws Error that names the first row that the target refuses; the rows before it are inserted
 * @throws StoreUnavailableError when the target is unavailable
 */
async function insertAll(to: Transfer, table: TransferTable, rows: readonly TransferRow[]): Promise<void> {
  try {
    await to.insert(table, rows);
    return;
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error;
  }
  for (const row of rows) {
    try {
      await to.insert(table, [row]);
    } catch (cause) {
      if (cause instanceof StoreUnavailableError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const key = row.slice(0, shapeOf(table).keys).join(', ');
      throw new Error(`cannot copy the row of ${table} with the key ${key}: ${reason}`, { cause });
    }
  }
}

/** Collects rows for one insert. */
class Batch {
  #rows: TransferRow[] = [];
  #characters = 0;

  constructor(private readonly insert: (rows: readonly TransferRow[]) => Promise<void>) {}

  /** Returns true if the batch was full and has been inserted. */
  async add(row: TransferRow): Promise<boolean> {
    this.#rows.push(row);
    for (const value of row) if (typeof value === 'string') this.#characters += value.length;
    if (this.#rows.length < ROWS_AT_ONCE && this.#characters < CHARACTERS_AT_ONCE) return false;
    await this.flush();
    return true;
  }

  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    if (rows.length > 0) await this.insert(rows);
  }
}

async function* oneByOne(
  pages: AsyncIterable<readonly TransferRow[]>,
): AsyncGenerator<TransferRow, void, undefined> {
  for await (const page of pages) yield* page;
}

/**
 * Counts and hashes a table, to compare it between two databases.
 * @throws the reason of `signal` when it aborts
 */
export async function summarize(
  side: Transfer,
  table: TransferTable,
  digests: Pick<Digests, 'sha256'>,
  signal?: AbortSignal,
): Promise<Summary> {
  let rows = 0;
  let digest = digests.sha256(table);
  for await (const page of side.rows(table)) {
    signal?.throwIfAborted();
    for (const row of page) {
      rows += 1;
      // Hashes row by row, so that the result does not depend on the batch size.
      digest = digests.sha256(digest + JSON.stringify(row));
    }
  }
  return { rows, digest };
}
