import type { Database } from 'better-sqlite3';
import type { EventBody, LoggedEvent, SystemEvent, Commit } from '../../../../core/model/event.js';
import type { SessionRow } from './session-row.js';

/**
 * Writes `events` and `system_events`. The methods change the counters of the given session row; the caller saves it.
 */
export interface EventTable {
  /** Logs events and increments the session's revision. */
  commit(row: SessionRow, events: readonly EventBody[], at: number): Commit;
  addSystemEvent(row: SessionRow, kind: SystemEvent['kind'], text: string, at: number): void;
}

export function createEventTable(db: Database): EventTable {
  const insertEvent = db.prepare<[session: number, id: number, at: number, body: string]>(
    'INSERT INTO events (session, id, at, body) VALUES (?, ?, ?, ?)',
  );
  const insertSystemEvent = db.prepare<[session: number, n: number, at: number, kind: string, text: string]>(
    'INSERT INTO system_events (session, n, at, kind, text) VALUES (?, ?, ?, ?, ?)',
  );

  function addSystemEvent(row: SessionRow, kind: SystemEvent['kind'], text: string, at: number): void {
    row.last_system_no += 1;
    insertSystemEvent.run(row.ref, row.last_system_no, at, kind, text);
  }

  return {
    commit(row, events, at) {
      const logged = events.map((body): LoggedEvent => {
        row.last_event_id += 1;
        insertEvent.run(row.ref, row.last_event_id, at, JSON.stringify(body));
        if (body.type === 'system_notice') addSystemEvent(row, 'SystemNotice', body.message, at);
        return { id: row.last_event_id, at, body };
      });
      row.revision += 1;
      return { revision: row.revision, events: logged };
    },
    addSystemEvent,
  };
}
