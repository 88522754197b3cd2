import type { Database } from 'better-sqlite3';
import { newSession, type SessionFields } from '../../core/session.js';
import type { SessionRow } from './rows.js';

/** The rows of `sessions`, for writers. */
export interface SessionTable {
  /** The row of an id, a tombstone too. */
  find(id: string): SessionRow | undefined;
  /** The row of an id unless it is a tombstone. */
  findLive(id: string): SessionRow | undefined;
  /** The row of an id; when there is none, a new one, or the tombstone brought back empty, still to be saved. */
  ensure(id: string, at: number): { readonly row: SessionRow; readonly created: boolean };
  save(row: SessionRow): void;
}

export function createSessionTable(db: Database): SessionTable {
  const select = db.prepare<[string], SessionRow>('SELECT * FROM sessions WHERE id = ?');
  const insert = db.prepare<[Omit<SessionRow, 'ref'>]>(
    `INSERT INTO sessions (id, title, title_source, wallet, rig, client, app, user_state, interrupted, created_at, active_at,
       revision, version, last_event_id, last_turn_no, last_system_no, faults_shown,
       faults_claimed_by, faults_claimed_until, incarnation, deleted_at)
     VALUES (@id, @title, @title_source, @wallet, @rig, @client, @app, @user_state, @interrupted, @created_at, @active_at,
       @revision, @version, @last_event_id, @last_turn_no, @last_system_no, @faults_shown,
       @faults_claimed_by, @faults_claimed_until, @incarnation, @deleted_at)`,
  );
  const update = db.prepare<[SessionRow]>(
    `UPDATE sessions SET title = @title, title_source = @title_source, wallet = @wallet, rig = @rig, client = @client, app = @app,
       user_state = @user_state, interrupted = @interrupted, created_at = @created_at, active_at = @active_at,
       revision = @revision, version = @version, last_event_id = @last_event_id, last_turn_no = @last_turn_no,
       last_system_no = @last_system_no, faults_shown = @faults_shown,
       faults_claimed_by = @faults_claimed_by, faults_claimed_until = @faults_claimed_until, incarnation = @incarnation, deleted_at = @deleted_at
     WHERE ref = @ref`,
  );

  function findLive(id: string): SessionRow | undefined {
    const row = select.get(id);
    return row?.deleted_at === null ? row : undefined;
  }

  return {
    find: (id) => select.get(id),
    findLive,
    ensure(id, at) {
      const found = select.get(id);
      if (found?.deleted_at === null) return { row: found, created: false };
      if (found !== undefined) return { row: { ...found, ...blankRow(id, at) }, created: true };
      const counters = { revision: 0, version: 0, last_event_id: 0, last_system_no: 0, faults_shown: 0 };
      const blank = { ...blankRow(id, at), ...counters, incarnation: 0 };
      return { row: { ...blank, ref: Number(insert.run(blank).lastInsertRowid) }, created: true };
    },
    save(row) {
      update.run(row);
    },
  };
}

/** What a new session and one that comes back have in common. */
function blankRow(id: string, at: number) {
  const { title, titleSource, createdAt, activeAt } = newSession(id, at);
  return {
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
    last_turn_no: 0,
    faults_claimed_by: null,
    faults_claimed_until: null,
    deleted_at: null,
  };
}

/** Sets fields on a row. True when one of them really changed. */
export function setFields(row: SessionRow, set: SessionFields): boolean {
  const { title, title_source, wallet, rig, client, app, user_state } = row;
  if (set.title !== undefined) row.title = set.title;
  if (set.titleSource !== undefined) row.title_source = set.titleSource;
  if (set.wallet !== undefined) row.wallet = set.wallet;
  if (set.rig !== undefined) row.rig = set.rig;
  if (set.client !== undefined) row.client = set.client;
  if (set.app !== undefined) row.app = set.app;
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
    user_state !== row.user_state
  );
}
