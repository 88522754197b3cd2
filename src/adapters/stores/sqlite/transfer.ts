import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { wellFormed } from '../../../core/model/text.js';
import type { Transfer } from '../../../core/ports/transfer.js';
import { shapeOf, type TransferRow, type TransferTable } from '../../../core/ports/transfer-tables.js';
import { openReading, openWriting } from './connections.js';
import { copyError, guarded } from './failure.js';
import { isMissing } from './files/database-files.js';
import { checkpoint } from './files/disk-bound.js';
import { reportMissing } from './files/missing-data.js';
import { makeFolder } from './files/private-files.js';

const BUSY_MS = 5_000;
const ROWS_A_PAGE = 200;

/**
 * Opens a database file to copy all its data from or into it, and migrates its schema.
 * @param options `mustExist`: true: a missing file is an error; false: it is created. `companions`: see `SqliteOptions`.
 * `onMissing`: called with data that was found missing, as messages for the operator
 * @throws Error when the file must exist and does not, or its schema is newer than this program
 * @throws StoreUnavailableError when it is damaged, locked, or cannot be created, or its disk is full
 */
export async function openSqliteTransfer(
  path: string,
  {
    mustExist,
    companions = [],
    onMissing = () => undefined,
  }: {
    readonly mustExist: boolean;
    readonly companions?: readonly string[];
    readonly onMissing?: (missing: readonly string[]) => void;
  },
): Promise<Transfer> {
  if (mustExist && isMissing(path)) throw new Error(`there is no database ${path}`);
  if (!mustExist) await makeFolder(path);
  const options = { path, busyTimeoutMs: BUSY_MS, maxPages: null, creates: !mustExist, migrates: true };
  const copying = (error: unknown): unknown => copyError(error, path, 'run the command again to continue');
  const db = guarded(
    () => openWriting(options, reportMissing(path, companions, onMissing)),
    mustExist ? undefined : copying,
  );
  return {
    identity: () =>
      settled(() => {
        const { dev, ino } = statSync(path, { bigint: true });
        return `${String(dev)}/${String(ino)}`;
      }),
    rows: (table) => readRows(path, table),
    orphans: (table) => settled(() => countOrphans(db, table)),
    insert: (table, rows) =>
      settled(() => {
        guarded(() => {
          insertRows(db, table, rows);
        }, copying);
      }),
    openTurns: (leaseMs) => settled(() => countOpen(db, leaseMs)),
    settle: () => settled(() => void guarded(() => checkpoint(db, 'TRUNCATE'), copying)),
    close: () => settled(() => void db.close()),
  };
}

/** Reads a table in pages, on a separate connection: rows inserted during the read are not part of its snapshot. */
async function* readRows(
  path: string,
  table: TransferTable,
): AsyncGenerator<readonly TransferRow[], void, undefined> {
  const db = guarded(() => openReading(path));
  try {
    const cursor = db.prepare<[], TransferRow>(selectOf(table)).raw().iterate();
    try {
      for (;;) {
        const page = await settled(() => nextPage(table, cursor));
        if (page.length > 0) yield page;
        if (page.length < ROWS_A_PAGE) return;
      }
    } finally {
      cursor.return?.();
    }
  } finally {
    db.close();
  }
}

function nextPage(table: TransferTable, cursor: Iterator<TransferRow>): TransferRow[] {
  const kinds = Object.values(shapeOf(table).columns);
  const page: TransferRow[] = [];
  while (page.length < ROWS_A_PAGE) {
    const next = cursor.next();
    if (next.done === true) break;
    page.push(
      next.value.map((value, column) =>
        // SQLite text may contain NUL, which PostgreSQL cannot store.
        typeof value === 'string' && kinds[column] === 'text' ? wellFormed(value) : value,
      ),
    );
  }
  return page;
}

function selectOf(table: TransferTable): string {
  const { keys, columns } = shapeOf(table);
  const expressions = Object.keys(columns).map((name) => {
    if (name === 'session') return 's.id';
    if (table === 'messages' && name === 'turn_id') return 'o.id';
    return `t.${name}`;
  });
  const joins = ownersOf(table).map(({ owner }) => `JOIN ${owner}`);
  return `SELECT ${expressions.join(', ')} FROM ${table} t ${joins.join(' ')} ORDER BY ${expressions.slice(0, keys).join(', ')}`;
}

/** The rows that a row `t` belongs to, as joins, and the column that is null without them. */
function ownersOf(table: TransferTable): readonly { readonly owner: string; readonly column: string }[] {
  if (!('session' in shapeOf(table).columns)) return [];
  const session = { owner: 'sessions s ON s.ref = t.session', column: 's.ref' };
  if (table !== 'messages') return [session];
  return [session, { owner: 'turns o ON o.session = t.session AND o.no = t.turn_no', column: 'o.no' }];
}

function countOrphans(db: Database, table: TransferTable): number {
  const owners = ownersOf(table);
  if (owners.length === 0) return 0;
  const joins = owners.map(({ owner }) => `LEFT JOIN ${owner}`).join(' ');
  const isOrphan = owners.map(({ column }) => `${column} IS NULL`).join(' OR ');
  return Number(db.prepare(`SELECT count(*) FROM ${table} t ${joins} WHERE ${isOrphan}`).pluck().get());
}

function insertRows(db: Database, table: TransferTable, rows: readonly TransferRow[]): void {
  const names = Object.keys(shapeOf(table).columns);
  const fixed = FIXED.get(table) ?? new Map<string, string>();
  // SQLite's messages refer to their turn by its number and have no `turn_id`.
  const kept = names.filter((name) => table !== 'messages' || name !== 'turn_id');
  const values = kept.map((name) =>
    name === 'session' ? '(SELECT ref FROM sessions WHERE id = @session)' : `@${name}`,
  );
  const into = [...kept, ...fixed.keys()].join(', ');
  const insert = db.prepare<[Record<string, TransferRow[number]>]>(
    `INSERT INTO ${table} (${into}) VALUES (${[...values, ...fixed.values()].join(', ')})`,
  );
  db.transaction(() => {
    for (const row of rows) {
      insert.run(Object.fromEntries(names.map((name, column) => [name, row[column] ?? null])));
    }
  }).immediate();
}

/** Values of the columns that are not copied: a turn has no lease, a session was never deleted. */
const FIXED: ReadonlyMap<TransferTable, ReadonlyMap<string, string>> = new Map([
  ['sessions', new Map([['incarnation', '0']])],
  ['turns', new Map([['lease_until', '0']])],
]);

function countOpen(db: Database, leaseMs: number): { open: number; held: number } {
  const now = Date.now();
  const counts = db
    .prepare<[now: number, furthest: number], { open: number; held: number }>(
      `SELECT count(*) AS open,
         count(*) FILTER (WHERE status = 'running' AND owner IS NOT NULL AND lease_until > ? AND lease_until <= ?) AS held
       FROM turns WHERE status IN ('queued', 'running')`,
    )
    .get(now, now + leaseMs);
  return counts ?? { open: 0, held: 0 };
}

/** Runs a synchronous driver call and rejects, as the port requires, when it throws. */
function settled<T>(run: () => T): Promise<T> {
  return Promise.resolve().then(() => guarded(run));
}
