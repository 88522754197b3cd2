import { NOTHING_PENDING, type Session, type TitleSource } from '../../../../core/model/session.js';
import { parsePending, parseUserState } from './json-columns.js';

/** A row of `sessions`. Write steps change it in memory, then save it with `SessionTable`. */
export interface SessionRow {
  /** Primary key; 0: not stored yet. */
  ref: number;
  readonly id: string;
  title: string;
  title_source: TitleSource;
  wallet: string | null;
  rig: string | null;
  client: string | null;
  app: string | null;
  user_state: string | null;
  interrupted: number;
  created_at: number;
  active_at: number;
  revision: number;
  version: number;
  last_event_id: number;
  last_turn_no: number;
  last_system_no: number;
  faults_shown: number;
  faults_claimed_by: string | null;
  faults_claimed_until: number | null;
  incarnation: number;
  deleted_at: number | null;
  /** Bytes of text in its messages. */
  text_bytes: number;
  /** How many messages a snapshot shows for them. */
  shown_messages: number;
  archived: number;
  /** JSON; null: no wallet request is pending. */
  pending: string | null;
  /** The highest id of a wallet request. */
  last_wallet_no: number;
}

/** The columns of a row that can change, in the order in which they are written. */
const FIELDS = [
  'title',
  'title_source',
  'wallet',
  'rig',
  'client',
  'app',
  'user_state',
  'interrupted',
  'created_at',
  'active_at',
  'revision',
  'version',
  'last_event_id',
  'archived',
  'pending',
  'last_turn_no',
  'last_system_no',
  'faults_shown',
  'faults_claimed_by',
  'faults_claimed_until',
  'incarnation',
  'deleted_at',
  'text_bytes',
  'shown_messages',
  'last_wallet_no',
] as const;

/** The names in `FIELDS`, as an SQL column list. */
export const SESSION_FIELDS = FIELDS.join(', ');

/** The columns of a `SessionRow`. */
export const SESSION_COLUMNS = `ref, id, ${SESSION_FIELDS}`;

type ValuesOf<Names extends readonly (keyof SessionRow)[]> = {
  -readonly [At in keyof Names]: SessionRow[Names[At]];
};

/** Returns the values of `SESSION_FIELDS`. Listed one by one: mapping over `FIELDS` is much slower. */
export function fieldValues(row: SessionRow): ValuesOf<typeof FIELDS> {
  return [
    row.title,
    row.title_source,
    row.wallet,
    row.rig,
    row.client,
    row.app,
    row.user_state,
    row.interrupted,
    row.created_at,
    row.active_at,
    row.revision,
    row.version,
    row.last_event_id,
    row.archived,
    row.pending,
    row.last_turn_no,
    row.last_system_no,
    row.faults_shown,
    row.faults_claimed_by,
    row.faults_claimed_until,
    row.incarnation,
    row.deleted_at,
    row.text_bytes,
    row.shown_messages,
    row.last_wallet_no,
  ];
}

export function toSession(row: SessionRow): Session {
  const { user_state: userState, pending } = row;
  return {
    id: row.id,
    title: row.title,
    titleSource: row.title_source,
    wallet: row.wallet,
    rig: row.rig,
    client: row.client,
    app: row.app,
    userState: userState === null ? null : parseUserState(userState),
    interrupted: row.interrupted === 1,
    archived: row.archived === 1,
    pending: pending === null ? NOTHING_PENDING : parsePending(pending),
    createdAt: row.created_at,
    activeAt: row.active_at,
    lastEventId: row.last_event_id,
    revision: row.revision,
    version: row.version,
  };
}
