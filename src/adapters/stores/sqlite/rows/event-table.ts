import type { Database } from 'better-sqlite3';
import type { EventBody, LoggedEvent, SystemEvent, Commit } from '../../../../core/model/event.js';
import type { SessionRow } from './session-row.js';

/** A session is listed in `long_logs` whenever its log has grown by this many events, or by as many system events. */
const LISTED_EVERY = 64;

/**
 * Writes `events` and `system_events`. The methods change the counters of the given session row; the caller saves it.
 */
export interface EventTable {
  /** Logs events and increments the session's revision. */
  commit(row: SessionRow, events: readonly EventBody[], at: number): Commit;
  /** Finds events that one commit logged after the event `after`; undefined: none did. Compares only the first one. */
  findLogged(row: SessionRow, events: readonly EventBody[], after: number): LoggedEvent[] | undefined;
  addSystemEvent(row: SessionRow, kind: SystemEvent['kind'], text: string, at: number): void;
}

export function createEventTable(db: Database): EventTable {
  const insertEvent = db.prepare<[session: number, id: number, at: number, body: string]>(
    'INSERT INTO events (session, id, at, body) VALUES (?, ?, ?, ?)',
  );
  const selectEqual = db.prepare<[session: number, after: number, body: string], Omit<LoggedEvent, 'body'>>(
    'SELECT id, at FROM events WHERE session = ? AND id > ? AND body = ? ORDER BY id LIMIT 1',
  );
  const insertSystemEvent = db.prepare<[session: number, n: number, at: number, kind: string, text: string]>(
    'INSERT INTO system_events (session, n, at, kind, text) VALUES (?, ?, ?, ?, ?)',
  );
  const list = db.prepare<[session: number]>(
    'INSERT OR IGNORE INTO long_logs (session, oldest_at) VALUES (?, 0)',
  );

  function listIfLong(row: SessionRow, grownTo: number): void {
    if (grownTo % LISTED_EVERY === 0) list.run(row.ref);
  }

  function addSystemEvent(row: SessionRow, kind: SystemEvent['kind'], text: string, at: number): void {
    row.last_system_no += 1;
    insertSystemEvent.run(row.ref, row.last_system_no, at, kind, text);
    listIfLong(row, row.last_system_no);
  }

  return {
    commit(row, events, at) {
      const logged = events.map((body): LoggedEvent => {
        row.last_event_id += 1;
        insertEvent.run(row.ref, row.last_event_id, at, JSON.stringify(body));
        listIfLong(row, row.last_event_id);
        if (body.type === 'system_notice') addSystemEvent(row, 'SystemNotice', body.message, at);
        return { id: row.last_event_id, at, body };
      });
      row.revision += 1;
      return { revision: row.revision, events: logged };
    },
    findLogged(row, events, after) {
      const known = selectEqual.get(row.ref, after, JSON.stringify(events[0]));
      return known && events.map((body, index) => ({ id: known.id + index, at: known.at, body }));
    },
    addSystemEvent,
  };
}
