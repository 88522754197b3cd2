import type { Database } from 'better-sqlite3';
import type { EventTable } from './event-table.js';
import { toSession, type SessionRow } from './session-row.js';
import { setFields, type SessionTable } from './session-table.js';
import type { Handlers } from './steps.js';

/** Leaves nothing of a session but its tombstone. */
export type Bury = (row: SessionRow, at: number) => void;

export function createBury(db: Database, sessions: SessionTable): Bury {
  const removals = ['messages', 'turns', 'events', 'system_events', 'idempotency_keys'].map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE session = ?`),
  );
  return (row, at) => {
    for (const removal of removals) removal.run(row.ref);
    const forgotten = { title: '', wallet: null, rig: null, app: null, user_state: null };
    sessions.save({ ...row, ...forgotten, incarnation: row.incarnation + 1, deleted_at: at });
  };
}

export function createSessionWrites(
  sessions: SessionTable,
  events: EventTable,
  bury: Bury,
): Pick<Handlers, 'saveSession' | 'deleteSession' | 'appendEvents'> {
  return {
    saveSession(change) {
      const { ifVersion, at } = change;
      const live = sessions.findLive(change.id);
      if (live === undefined && change.ifMissing === 'refuse') return { kind: 'missing' };
      if (ifVersion !== undefined && ifVersion !== (live?.version ?? 0)) return { kind: 'stale' };
      const created = live === undefined;
      const row = live ?? sessions.create(change.id, at);
      const changed = setFields(row, change.set) || created;
      const active = change.isActivity && at > row.active_at;
      if (!changed && !active && change.events.length === 0) {
        const commit = { revision: row.revision, events: [] };
        return { kind: 'saved', session: toSession(row), created, commit };
      }
      if (changed) row.version += 1;
      if (active) row.active_at = at;
      // Events refer to the row of their session.
      if (created && change.events.length > 0) sessions.save(row);
      const commit = events.commit(row, change.events, at);
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
