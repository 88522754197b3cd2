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

/** The columns of a row that the core reads, without the id. */
const CORE_FIELDS = [
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
] as const;

/** The columns of a row that can change, in the order in which they are read and written. */
const FIELDS = [
  ...CORE_FIELDS,
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

type ValuesOf<Names extends readonly (keyof SessionRow)[]> = {
  -readonly [At in keyof Names]: SessionRow[Names[At]];
};

/**
 * The columns of a `SessionRow`, to be read as an array: the driver is slow at creating an object with so many
 * properties.
 */
export const SESSION_COLUMNS = `ref, id, ${SESSION_FIELDS}`;

/** The values of `SESSION_COLUMNS`. */
export type SessionValues = [ref: number, id: string, ...ValuesOf<typeof FIELDS>];

export function toSessionRow(values: SessionValues): SessionRow {
  const [
    ref,
    id,
    title,
    title_source,
    wallet,
    rig,
    client,
    app,
    user_state,
    interrupted,
    created_at,
    ...rest
  ] = values;
  const [active_at, revision, version, last_event_id, archived, pending, last_turn_no, ...others] = rest;
  const [last_system_no, faults_shown, faults_claimed_by, faults_claimed_until, incarnation, ...last] =
    others;
  const [deleted_at, text_bytes, shown_messages, last_wallet_no] = last;
  return {
    ref,
    id,
    title,
    title_source,
    wallet,
    rig,
    client,
    app,
    user_state,
    interrupted,
    created_at,
    active_at,
    revision,
    version,
    last_event_id,
    last_turn_no,
    last_system_no,
    faults_shown,
    faults_claimed_by,
    faults_claimed_until,
    incarnation,
    deleted_at,
    text_bytes,
    shown_messages,
    archived,
    pending,
    last_wallet_no,
  };
}

/** The values of `CORE_FIELDS`. */
export type CoreValues = ValuesOf<typeof CORE_FIELDS>;

/** Returns the columns of a row that the core reads. Listed one by one: mapping over `CORE_FIELDS` is much slower. */
export function coreValues(row: SessionRow): CoreValues {
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
  ];
}

/** Returns the values of `SESSION_FIELDS`. */
export function fieldValues(row: SessionRow): ValuesOf<typeof FIELDS> {
  return [
    ...coreValues(row),
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
  return sessionOf(row.id, coreValues(row));
}

/** @param values as `coreValues` lists them */
export function sessionOf(id: string, values: CoreValues): Session {
  const [title, titleSource, wallet, rig, client, app, userState, interrupted, ...last] = values;
  const [createdAt, activeAt, revision, version, lastEventId, archived, pending] = last;
  return {
    id,
    title,
    titleSource,
    wallet,
    rig,
    client,
    app,
    userState: userState === null ? null : parseUserState(userState),
    interrupted: interrupted === 1,
    archived: archived === 1,
    pending: pending === null ? NOTHING_PENDING : parsePending(pending),
    createdAt,
    activeAt,
    lastEventId,
    revision,
    version,
  };
}
