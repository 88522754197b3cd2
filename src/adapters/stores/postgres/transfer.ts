import { TypeOverrides, types, type Client } from 'pg';
import type { Transfer } from '../../../core/ports/transfer.js';
import {
  shapeOf,
  type ColumnKind,
  type TransferRow,
  type TransferTable,
} from '../../../core/ports/transfer-tables.js';
import { clientConfig, createClient } from './connections.js';
import { toStoreError } from './failure.js';
import { hasTables, migrate, readMigrations } from './migrate.js';

const ROWS_A_PAGE = 200;

/**
 * Opens a database to copy all its data from or into it, and migrates its schema.
 * @param mustExist true: a database without Diptych's tables is an error; false: its tables are created
 * @throws Error when the tables must exist and do not, or their schema is newer than this program
 * @throws StoreUnavailableError when the database cannot be reached
 */
export async function openPostgresTransfer(
  url: string,
  { mustExist }: { readonly mustExist: boolean },
): Promise<Transfer> {
  if (mustExist) await withClient(url, expectTables);
  await migrate({ url }, await readMigrations(new URL('./migrations/', import.meta.url)));
  const client = await connect(url);
  const inserts = new Map<TransferTable, string>();
  try {
    await client.query('SET synchronous_commit = on');
  } catch (error) {
    await client.end();
    throw toStoreError(error);
  }

  return {
    async identity() {
      const { rows } = await guarded(() => client.query<{ identity: string }>(IDENTITY));
      return String(rows[0]?.identity);
    },
    rows: (table) => readRows(url, table),
    async orphans(table) {
      if (!('session' in shapeOf(table).columns)) return 0;
      const { rows } = await guarded(() => client.query<{ orphans: number }>(orphansOf(table)));
      return Number(rows[0]?.orphans);
    },
    async insert(table, rows) {
      const text = inserts.get(table) ?? insertOf(table);
      inserts.set(table, text);
      const names = Object.keys(shapeOf(table).columns);
      const records = rows.map((row) =>
        Object.fromEntries(names.map((name, column) => [name, row[column] ?? null])),
      );
      const { rowCount } = await guarded(() => client.query(text, [JSON.stringify(records)]));
      if (rowCount !== rows.length) throw new Error(`rows of ${table} belong to sessions that do not exist`);
    },
    async openTurns(leaseMs) {
      const { rows } = await guarded(() => client.query<{ open: number; held: number }>(OPEN, [leaseMs]));
      return rows[0] ?? { open: 0, held: 0 };
    },
    async settle() {
      // The planner has no statistics on the copied rows until autovacuum runs.
      await guarded(() => client.query('ANALYZE'));
    },
    close: () => guarded(() => client.end()),
  };
}

// Copies of one data directory share the identifier of their system, but not the time of their start.
const IDENTITY = `SELECT
    concat_ws('/', system_identifier, pg_postmaster_start_time(), oid, current_schema()) AS identity
  FROM pg_control_system(), pg_database WHERE datname = current_database()`;

const OPEN = `SELECT count(*) AS open,
    count(*) FILTER (
      WHERE status = 'running' AND owner IS NOT NULL AND lease_until > clock_timestamp()
        AND lease_until <= clock_timestamp() + $1::bigint * interval '1 millisecond'
    ) AS held
  FROM turns WHERE status IN ('queued', 'running')`;

async function expectTables(client: Client): Promise<void> {
  if (!(await hasTables(client))) throw new Error('this PostgreSQL database contains no data of Diptych');
}

/** Reads a consistent snapshot of a table in pages, through a cursor on a separate connection. */
async function* readRows(
  url: string,
  table: TransferTable,
): AsyncGenerator<readonly TransferRow[], void, undefined> {
  const client = await connect(url);
  try {
    await guarded(() => client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'));
    await guarded(() => client.query(`DECLARE transfer NO SCROLL CURSOR FOR ${selectOf(table)}`));
    const fetch = { text: `FETCH ${String(ROWS_A_PAGE)} FROM transfer`, rowMode: 'array' } as const;
    for (;;) {
      const { rows } = await guarded(() => client.query<(string | number | null)[]>(fetch));
      if (rows.length > 0) yield rows;
      if (rows.length < ROWS_A_PAGE) return;
    }
  } finally {
    await client.end();
  }
}

function selectOf(table: TransferTable): string {
  const { keys, columns } = shapeOf(table);
  const expressions = Object.entries(columns).map(([name, kind]) =>
    name === 'session' ? 's.id' : readAs(`t.${name}`, kind),
  );
  const order = Object.entries(columns)
    .slice(0, keys)
    .map(([, kind], column) => `${expressions[column] ?? ''}${kind === 'text' ? ' COLLATE "C"' : ''}`);
  const join = 'session' in columns ? 'JOIN sessions s ON s.ref = t.session' : '';
  return `SELECT ${expressions.join(', ')} FROM ${table} t ${join} ORDER BY ${order.join(', ')}`;
}

function orphansOf(table: TransferTable): string {
  return `SELECT count(*) AS orphans FROM ${table} t
    WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.ref = t.session)`;
}

function readAs(column: string, kind: ColumnKind): string {
  if (kind === 'json') return `${column}::text`;
  return kind === 'flag' ? `${column}::integer` : column;
}

function insertOf(table: TransferTable): string {
  const columns = Object.entries(shapeOf(table).columns);
  const record = columns.map(
    ([name, kind]) => `${name} ${kind === 'text' || kind === 'json' ? 'text' : 'bigint'}`,
  );
  const values = columns.map(([name, kind]) => (name === 'session' ? 's.ref' : writtenAs(`r.${name}`, kind)));
  const join = columns.some(([name]) => name === 'session') ? 'JOIN sessions s ON s.id = r.session' : '';
  return `INSERT INTO ${table} (${columns.map(([name]) => name).join(', ')})
    SELECT ${values.join(', ')} FROM json_to_recordset($1::json) AS r (${record.join(', ')}) ${join}`;
}

function writtenAs(value: string, kind: ColumnKind): string {
  if (kind === 'json') return `${value}::json`;
  return kind === 'flag' ? `${value} = 1` : value;
}

async function withClient(url: string, run: (client: Client) => Promise<void>): Promise<void> {
  const client = await connect(url);
  try {
    await run(client);
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<Client> {
  const parsers = new TypeOverrides();
  parsers.setTypeParser(types.builtins.INT8, Number);
  // No statement timeout: a table may be large.
  const client = createClient({ ...clientConfig({ url }), statement_timeout: 0, types: parsers });
  // An unhandled 'error' event would end the process. A connection lost between statements fails the next one.
  client.on('error', () => undefined);
  await guarded(() => client.connect());
  return client;
}

async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toStoreError(error);
  }
}
