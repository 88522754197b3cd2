import type { Digests } from './digests.js';
import {
  compareKeys,
  isSameRow,
  TRANSFER_TABLES,
  type TransferRow,
  type TransferTable,
} from './transfer-tables.js';

/** A store as a copy of all its data goes out of it or into it. Not for a store that is served meanwhile. */
export interface Transfer {
  /**
   * All rows of a table as they are now, in the order of `compareKeys`, some at a time. Rows added while it is read do
   * not show.
   */
  rows(table: TransferTable): AsyncIterable<readonly TransferRow[]>;
  /**
   * Stores new rows, all or none. The sessions that they belong to must be there. @throws when one of them is there
   * already
   */
  insert(table: TransferTable, rows: readonly TransferRow[]): Promise<void>;
  /**
   * Counts the turns that have not ended. `held`: those with a living lease. One that ends further ahead than a lease
   * is long was granted before the clock was set back, and nobody has renewed it since.
   * @param leaseMs how long a lease holds without renewal, in milliseconds
   */
  openTurns(leaseMs: number): Promise<{ readonly open: number; readonly held: number }>;
  /** Prepares the store for use after many inserts. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** What became of one table. */
export interface TableCopy {
  readonly table: TransferTable;
  readonly copied: number;
  /** Rows that were there already, as they are in the source. */
  readonly present: number;
  /** Rows that are there with another content. They were left as they are. */
  readonly different: number;
  /** Rows that the source does not have. */
  readonly extra: number;
}

/** A table as one side has it. */
export interface Summary {
  readonly rows: number;
  /** SHA-256 over all rows in order, in hex: equal tables have equal ones, whatever the database. */
  readonly digest: string;
}

/** Bounds of one insert: what is lost when it is cut off, and what it takes of memory. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 4_000_000;

/**
 * Copies what the target lacks. Stopped or cut off at any point, it goes on when it is called again.
 * @param progress hears after each insert, and at the end of each table, how many of its rows were looked at
 * @returns the tables that were gone through to their end: not all of them when `signal` aborts
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

/** Walks through both sides in the order of their keys. Undefined: it was stopped. */
async function copyTable(
  from: Transfer,
  to: Transfer,
  table: TransferTable,
  signal: AbortSignal,
  progress: (rows: number) => void,
): Promise<TableCopy | undefined> {
  const counts = { copied: 0, present: 0, different: 0, extra: 0 };
  const batch = new Batch((rows) => to.insert(table, rows));
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

/** Rows that wait to be inserted together. */
class Batch {
  #rows: TransferRow[] = [];
  #characters = 0;

  constructor(private readonly insert: (rows: readonly TransferRow[]) => Promise<void>) {}

  /** True when it was full, and was inserted. */
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

/** Counts a table, and sums it up so that two databases can be compared. */
export async function summarize(
  side: Transfer,
  table: TransferTable,
  digests: Pick<Digests, 'sha256'>,
): Promise<Summary> {
  let rows = 0;
  let digest = digests.sha256(table);
  for await (const page of side.rows(table)) {
    for (const row of page) {
      rows += 1;
      // A chain, so that the pages' sizes make no difference.
      digest = digests.sha256(digest + JSON.stringify(row));
    }
  }
  return { rows, digest };
}
