import type { Database } from 'better-sqlite3';
import type { EventTable } from '../rows/event-table.js';
import { toSession, type SessionRow } from '../rows/session-row.js';
import { setFields, type SessionTable } from '../rows/session-table.js';
import type { Handlers } from '../steps.js';

const TABLES_OF_SESSION = [
  'messages',
  'turns',
  'events',
  'system_events',
  'idempotency_keys',
  'open_calls',
  'wallet_requests',
];

/**
 * Deletes all rows of a session and turns its own row into a tombstone. The transactions that its wallets were asked for
 * still count: see `past_transactions`.
 */
export type Bury = (row: SessionRow, at: number) => void;

export function createBury(db: Database, sessions: SessionTable): Bury {
  const removals = TABLES_OF_SESSION.map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE session = ?`),
  );
  const keepTransactions = db.prepare<[of: string, session: number]>(
    `INSERT INTO past_transactions (of_session, id, app, wallet, chain_id, value, requested_at, proof)
     SELECT ?, id, app, wallet, chain_id, value, requested_at, iif(state = 'confirmed', proof, NULL) FROM wallet_requests
     WHERE session = ? AND kind = 'transaction' AND requested_at IS NOT NULL AND state <> 'rejected'`,
  );
  // At most `MAX_FAILURES` rows.
  const unnameFailures = db.prepare<[id: string]>("UPDATE failures SET of_session = '' WHERE of_session = ?");
  return (row, at) => {
    keepTransactions.run(row.id, row.ref);
    unnameFailures.run(row.id);
    for (const removal of removals) removal.run(row.ref);
    const forgotten = {
      ...{ title: '', wallet: null, rig: null, client: null, app: null, user_state: null },
      ...{ text_bytes: 0, shown_messages: 0, archived: 0, pending: null },
    };
    sessions.save({ ...row, ...forgotten, incarnation: row.incarnation + 1, deleted_at: at });
  };
}

/** The write steps for sessions and their events. */
export function createSessionWrites(
  sessions: SessionTable,
  events: EventTable,
  bury: Bury,
): Pick<Handlers, 'saveSession' | 'deleteSession' | 'appendEvents'> {
  return {
    saveSession({ id, ifMissing, ifVersion, set, events: bodies, isActivity, at }) {
      const { row, created } = sessions.open(id, at);
      if (created && ifMissing === 'refuse') return { kind: 'missing' };
      if (ifVersion !== undefined && ifVersion !== (created ? 0 : row.version)) return { kind: 'stale' };
      const changed = setFields(row, set) || created;
      const active = isActivity && at > row.active_at;
      if (!changed && !active && bodies.length === 0) {
        const unchanged = { revision: row.revision, events: [] };
        return { kind: 'saved', session: toSession(row), created, commit: unchanged };
      }
      if (changed) row.version += 1;
      if (active) row.active_at = at;
      // The foreign key of the events requires the session's row.
      if (created && bodies.length > 0) sessions.save(row);
      const commit = events.commit(row, bodies, at);
      sessions.save(row);
      return { kind: 'saved', session: toSession(row), created, commit };
    },

    deleteSession(id, at) {
      const row = sessions.findLive(id);
      if (row === undefined) return false;
      bury(row, at);
      return true;
    },

    appendEvents(id, bodies, at) {
      const row = sessions.findLive(id);
      if (row === undefined) return undefined;
      if (bodies.length === 0) return { revision: row.revision, events: [] };
      const commit = events.commit(row, bodies, at);
      sessions.saveCounters(row);
      return commit;
    },
  };
}
