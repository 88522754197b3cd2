/** What a column holds. A flag is 0 or 1; JSON is carried as the text that it was written as. */
export type ColumnKind = 'text' | 'integer' | 'flag' | 'json';

/** A table as it is copied between databases. */
export interface TableShape {
  /** Which of the columns, from the first on, make the key. */
  readonly keys: number;
  /** Its columns in order. Where there is a `session`, it is the first one, and holds the session's id. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
}

/**
 * Everything that is kept of a service, in an order in which it can be written. Left out is what only a running service
 * means: who works on a turn, and until when.
 */
const SHAPES = {
  sessions: {
    keys: 1,
    columns: {
      ...{ id: 'text', title: 'text', title_source: 'text', wallet: 'text', rig: 'text', client: 'text' },
      ...{
        app: 'text',
        user_state: 'json',
        interrupted: 'flag',
        created_at: 'integer',
        active_at: 'integer',
      },
      ...{ revision: 'integer', version: 'integer', last_event_id: 'integer', last_turn_no: 'integer' },
      ...{ last_system_no: 'integer', faults_shown: 'integer', deleted_at: 'integer' },
      ...{ text_bytes: 'integer', shown_messages: 'integer' },
    },
  },
  turns: {
    keys: 2,
    columns: {
      ...{ session: 'text', no: 'integer', id: 'text', app: 'text', client_id: 'text', key_id: 'text' },
      ...{ status: 'text', attempt: 'integer', losses: 'integer', cancel_requested: 'flag', rig: 'text' },
      ...{
        input_tokens: 'integer',
        output_tokens: 'integer',
        shown_tokens: 'integer',
        created_at: 'integer',
      },
      ...{ ended_at: 'integer', error: 'text', partial_text: 'text', partial_attempt: 'integer' },
      partial_since: 'integer',
    },
  },
  messages: {
    keys: 3,
    columns: {
      ...{
        session: 'text',
        turn_no: 'integer',
        position: 'integer',
        id: 'text',
        turn_id: 'text',
        role: 'text',
      },
      ...{ content: 'text', tool_calls: 'json', tool_results: 'json', created_at: 'integer' },
    },
  },
  events: { keys: 2, columns: { session: 'text', id: 'integer', at: 'integer', body: 'json' } },
  system_events: {
    keys: 2,
    columns: { session: 'text', n: 'integer', at: 'integer', kind: 'text', text: 'text' },
  },
  idempotency_keys: {
    keys: 2,
    columns: { session: 'text', key: 'text', fingerprint: 'text', turn_id: 'text', created_at: 'integer' },
  },
  app_keys: {
    keys: 1,
    columns: {
      ...{ id: 'text', digest: 'text', apps: 'json', label: 'text', created_at: 'integer' },
      ...{ expires_at: 'integer', revoked_at: 'integer' },
    },
  },
  secrets: {
    keys: 3,
    columns: {
      ...{ client: 'text', app: 'text', name: 'text', key_id: 'text', sealed: 'text', created_at: 'integer' },
      ...{ used_at: 'integer' },
    },
  },
  usage: {
    keys: 5,
    columns: {
      ...{ day: 'integer', surface: 'text', endpoint: 'text', key_id: 'text', client: 'text' },
      ...{ requests: 'integer', first_at: 'integer', last_at: 'integer' },
    },
  },
  uses: { keys: 3, columns: { subject: 'text', measure: 'text', window_from: 'integer', amount: 'integer' } },
} as const satisfies Record<string, TableShape>;

/** A table that moves between stores. */
export type TransferTable = keyof typeof SHAPES;

/** All tables, those first that others refer to. */
export const TRANSFER_TABLES = Object.keys(SHAPES).filter((name): name is TransferTable => name in SHAPES);

/** The columns of a table, and how many of them are its key. */
export function shapeOf(table: TransferTable): TableShape {
  return SHAPES[table];
}

/** The values of a row, in the order of its table's columns. */
export type TransferRow = readonly (string | number | null)[];

/** Orders rows of a table by their keys: numbers by size, text by its UTF-8 bytes. */
export function compareKeys(table: TransferTable, a: TransferRow, b: TransferRow): number {
  for (let column = 0; column < SHAPES[table].keys; column += 1) {
    const left = a[column];
    const right = b[column];
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
  }
  return 0;
}

/** Whether two rows have the same values. */
export function isSameRow(a: TransferRow, b: TransferRow): boolean {
  return a.length === b.length && a.every((value, column) => value === b[column]);
}
