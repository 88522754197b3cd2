import type { Database } from 'better-sqlite3';
import { newSession, type SessionFields } from '../../../../core/model/session.js';
import { fieldValues, SESSION_COLUMNS, SESSION_FIELDS, type SessionRow } from './session-row.js';

/** Reads and writes `sessions`. */
export interface SessionTable {
  /** Returns the row with this id unless it is a tombstone. */
  findLive(id: string): SessionRow | undefined;
  /** Returns the row with this primary key unless it is a tombstone. */
  findLiveByRef(ref: number): SessionRow | undefined;
  /**
   * Returns the row with this id. If there is none, or only a tombstone, returns a new row, which the caller may save.
   * @param at the time of creation of a new row
   */
  open(id: string, at: number): { readonly row: SessionRow; readonly created: boolean };
  /** Inserts or updates a whole row. Sets `ref` on a new one. */
  save(row: SessionRow): void;
  /** Updates only the columns that turns and events change. */
  saveCounters(row: SessionRow): void;
}

type FieldValues = ReturnType<typeof fieldValues>;

type Counters = [
  interrupted: number,
  active_at: number,
  revision: number,
  last_event_id: number,
  last_turn_no: number,
  last_system_no: number,
  text_bytes: number,
  shown_messages: number,
];

const MARKS = Array.from(SESSION_FIELDS.split(','), () => '?').join(', ');

export function createSessionTable(db: Database): SessionTable {
  const select = db.prepare<[string], SessionRow>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`);
  const selectByRef = db.prepare<[number], SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE ref = ?`,
  );
  const insert = db.prepare<[id: string, ...fields: FieldValues]>(
    `INSERT INTO sessions (id, ${SESSION_FIELDS}) VALUES (?, ${MARKS})`,
  );
  const update = db.prepare<[...fields: FieldValues, ref: number]>(
    `UPDATE sessions SET (${SESSION_FIELDS}) = (${MARKS}) WHERE ref = ?`,
  );
  const updateCounters = db.prepare<[...Counters, ref: number]>(
    `UPDATE sessions SET interrupted = ?, active_at = ?, revision = ?, last_event_id = ?, last_turn_no = ?,
       last_system_no = ?, text_bytes = ?, shown_messages = ? WHERE ref = ?`,
  );

  return {
    findLive(id) {
      const row = select.get(id);
      return row?.deleted_at === null ? row : undefined;
    },
    findLiveByRef(ref) {
      const row = selectByRef.get(ref);
      return row?.deleted_at === null ? row : undefined;
    },
    open(id, at) {
      const found = select.get(id);
      if (found?.deleted_at === null) return { row: found, created: false };
      return { row: found === undefined ? newRow(id, at) : broughtBack(found, at), created: true };
    },
    save(row) {
      if (row.ref === 0) row.ref = Number(insert.run(row.id, ...fieldValues(row)).lastInsertRowid);
      else update.run(...fieldValues(row), row.ref);
    },
    saveCounters(row) {
      const { interrupted, active_at, revision, last_event_id, last_turn_no, last_system_no } = row;
      const { text_bytes, shown_messages, ref } = row;
      updateCounters.run(
        ...([interrupted, active_at, revision, last_event_id, last_turn_no, last_system_no] as const),
        ...([text_bytes, shown_messages, ref] as const),
      );
    },
  };
}

/** Creates the row of a session that was never stored. */
function newRow(id: string, at: number): SessionRow {
  const { title, titleSource, createdAt, activeAt } = newSession(id, at);
  return {
    ref: 0,
    id,
    title,
    title_source: titleSource,
    wallet: null,
    rig: null,
    client: null,
    app: null,
    user_state: null,
    interrupted: 0,
    created_at: createdAt,
    active_at: activeAt,
    revision: 0,
    version: 0,
    last_event_id: 0,
    last_turn_no: 0,
    last_system_no: 0,
    faults_shown: 0,
    faults_claimed_by: null,
    faults_claimed_until: null,
    incarnation: 0,
    deleted_at: null,
    text_bytes: 0,
    shown_messages: 0,
    archived: 0,
    pending: null,
    last_wallet_no: 0,
  };
}

/** Creates an empty row from a tombstone. Its counters continue, so that revisions and event ids are never reused. */
function broughtBack(tombstone: SessionRow, at: number): SessionRow {
  const { ref, revision, version, last_event_id, last_system_no, faults_shown, incarnation } = tombstone;
  return {
    ...newRow(tombstone.id, at),
    ref,
    revision,
    version,
    last_event_id,
    last_system_no,
    faults_shown,
    incarnation,
    last_wallet_no: tombstone.last_wallet_no,
  };
}

/** Sets fields on a row. Returns whether a value changed. */
export function setFields(row: SessionRow, set: SessionFields): boolean {
  const { title, title_source, wallet, rig, client, app, user_state, archived } = row;
  if (set.title !== undefined) row.title = set.title;
  if (set.titleSource !== undefined) row.title_source = set.titleSource;
  if (set.wallet !== undefined) row.wallet = set.wallet;
  if (set.rig !== undefined) row.rig = set.rig;
  if (set.client !== undefined) row.client = set.client;
  if (set.app !== undefined) row.app = set.app;
  if (set.archived !== undefined) row.archived = set.archived ? 1 : 0;
  if (set.userState !== undefined) {
    row.user_state = set.userState === null ? null : JSON.stringify(set.userState);
  }
  return (
    title !== row.title ||
    title_source !== row.title_source ||
    wallet !== row.wallet ||
    rig !== row.rig ||
    client !== row.client ||
    app !== row.app ||
    user_state !== row.user_state ||
    archived !== row.archived
  );
}
