/** The type of a column. A flag is 0 or 1; JSON is copied as its stored text. */
export type ColumnKind = 'text' | 'integer' | 'flag' | 'json';

/** The columns and key of a table that is copied between databases. */
export interface TableShape {
  /** How many of the first columns form the key. */
  readonly keys: number;
  /** The columns in order. A `session` column is always the first and has the session's id. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
}

/**
 * All stored data of a service, in an order that satisfies foreign keys on insert. Excludes what only matters to a
 * running service, such as leases and their owners.
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
      ...{ archived: 'flag', pending: 'json', last_wallet_no: 'integer' },
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
      origin: 'text',
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
  wallet_requests: {
    keys: 2,
    columns: {
      ...{
        session: 'text',
        id: 'integer',
        call_id: 'text',
        app: 'text',
        wallet: 'text',
        chain_id: 'integer',
      },
      ...{ label: 'text', kind: 'text', payload: 'json', value: 'text', sound: 'flag', state: 'text' },
      ...{
        staged_at: 'integer',
        requested_at: 'integer',
        expires_at: 'integer',
        claim: 'json',
        proof: 'text',
      },
      ...{ verification: 'json', turn_id: 'text' },
    },
  },
  past_transactions: {
    keys: 2,
    columns: {
      ...{
        of_session: 'text',
        id: 'integer',
        app: 'text',
        wallet: 'text',
        chain_id: 'integer',
        value: 'text',
      },
      ...{ requested_at: 'integer', proof: 'text' },
    },
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
  activity: {
    keys: 2,
    columns: {
      ...{ at: 'integer', node: 'text', complete: 'integer', interrupted: 'integer', failed: 'integer' },
      ...{ input_tokens: 'integer', output_tokens: 'integer', first_text: 'text', duration: 'text' },
    },
  },
  failures: {
    keys: 2,
    columns: {
      ...{ at: 'integer', turn_id: 'text', of_session: 'text', app: 'text', rig: 'text', reason: 'text' },
    },
  },
  work: {
    keys: 3,
    columns: {
      ...{ day: 'integer', app: 'text', key_id: 'text', turns: 'integer' },
      ...{ input_tokens: 'integer', output_tokens: 'integer' },
    },
  },
  notices: {
    keys: 1,
    columns: { name: 'text', owner: 'text', claimed_until: 'integer', delivered_at: 'integer' },
  },
  uses: { keys: 3, columns: { subject: 'text', measure: 'text', window_from: 'integer', amount: 'integer' } },
} as const satisfies Record<string, TableShape>;

export type TransferTable = keyof typeof SHAPES;

/** All tables; a table comes before those that refer to it. */
export const TRANSFER_TABLES = Object.keys(SHAPES).filter((name): name is TransferTable => name in SHAPES);

export function shapeOf(table: TransferTable): TableShape {
  return SHAPES[table];
}

/** The values of a row, in the order of the table's columns. */
export type TransferRow = readonly (string | number | null)[];

/** Compares rows of a table by their keys: numbers by value, text by its UTF-8 bytes. */
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

export function isSameRow(a: TransferRow, b: TransferRow): boolean {
  return a.length === b.length && a.every((value, column) => value === b[column]);
}
