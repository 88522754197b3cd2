import type { Session, TitleSource } from '../../core/session.js';
import { parseUserState } from './json-columns.js';

/** A row of `sessions`. Writers change it in memory and save it whole. */
export interface SessionRow {
  /** 0: not stored yet. */
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
}

/** What of a row can change, in the order in which it is read and written. */
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
  'last_turn_no',
  'last_system_no',
  'faults_shown',
  'faults_claimed_by',
  'faults_claimed_until',
  'incarnation',
  'deleted_at',
] as const;

/** Their names, as SQL lists them. */
export const SESSION_FIELDS = FIELDS.join(', ');

type ValuesOf<Names extends readonly (keyof SessionRow)[]> = {
  -readonly [At in keyof Names]: SessionRow[Names[At]];
};

/**
 * The columns of a `SessionRow`, to be read as an array: the driver names the columns of an object one property at a time,
 * which made 22 of them the dearest read of a turn (15 µs, and 5 as an array).
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
  const [active_at, revision, version, last_event_id, last_turn_no, last_system_no, faults_shown, ...last] =
    rest;
  const [faults_claimed_by, faults_claimed_until, incarnation, deleted_at] = last;
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
  };
}

/** The values of `SESSION_FIELDS`. Each by its name: by names from a list they take ten times as long. */
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
    row.last_turn_no,
    row.last_system_no,
    row.faults_shown,
    row.faults_claimed_by,
    row.faults_claimed_until,
    row.incarnation,
    row.deleted_at,
  ];
}

/** What of a row the core knows. */
export type SessionPart = Pick<
  SessionRow,
  | 'id'
  | 'title'
  | 'title_source'
  | 'wallet'
  | 'rig'
  | 'client'
  | 'app'
  | 'user_state'
  | 'interrupted'
  | 'created_at'
  | 'active_at'
  | 'last_event_id'
  | 'revision'
  | 'version'
>;

export function toSession(row: SessionPart): Session {
  return {
    id: row.id,
    title: row.title,
    titleSource: row.title_source,
    wallet: row.wallet,
    rig: row.rig,
    client: row.client,
    app: row.app,
    userState: row.user_state === null ? null : parseUserState(row.user_state),
    interrupted: row.interrupted === 1,
    createdAt: row.created_at,
    activeAt: row.active_at,
    lastEventId: row.last_event_id,
    revision: row.revision,
    version: row.version,
  };
}
