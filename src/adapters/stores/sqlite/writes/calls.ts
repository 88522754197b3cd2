import type { Database } from 'better-sqlite3';
import type { EventTable } from '../rows/event-table.js';
import type { SessionTable } from '../rows/session-table.js';
import type { Handlers } from '../steps.js';

/** Identifies one grant of the lease on a call. A renewal changes the mark, because it changes `lease_until`. */
const CALL_MARK = "owner || ':' || lease_until";

/** Selects the leases on open calls. */
export const CALL_LEASES = `SELECT call_id, ${CALL_MARK}, lease_until, tool_name FROM open_calls`;

/** The write steps for tool calls outside turns. */
export function createCallWrites(
  db: Database,
  { sessions, events }: { readonly sessions: SessionTable; readonly events: EventTable },
): Pick<Handlers, 'openCall' | 'logCall' | 'closeCall' | 'renewCalls'> {
  const insert = db.prepare<
    [callId: string, session: number, toolName: string, owner: string, leaseUntil: number]
  >('INSERT INTO open_calls (call_id, session, tool_name, owner, lease_until) VALUES (?, ?, ?, ?, ?)');
  const remove = db
    .prepare<[callId: string, owner: string | null, mark: string | null], string>(
      `DELETE FROM open_calls WHERE call_id = ? AND (owner = ? OR ${CALL_MARK} = ?)
        RETURNING (SELECT id FROM sessions WHERE ref = session)`,
    )
    .pluck();
  const find = db
    .prepare<[callId: string, owner: string], string>(
      'SELECT s.id FROM open_calls c JOIN sessions s ON s.ref = c.session WHERE c.call_id = ? AND c.owner = ?',
    )
    .pluck();
  const renew = db.prepare<[leaseUntil: number, callId: string, owner: string]>(
    'UPDATE open_calls SET lease_until = ? WHERE call_id = ? AND owner = ?',
  );

  return {
    openCall({ callId, sessionId, toolName }, lease, event, at) {
      const row = sessions.findLive(sessionId);
      if (row === undefined) return undefined;
      insert.run(callId, row.ref, toolName, lease.owner, Date.now() + lease.milliseconds);
      const commit = events.commit(row, [event], at);
      sessions.saveCounters(row);
      return commit;
    },

    logCall(callId, owner, event, at) {
      const sessionId = find.get(callId, owner);
      const row = sessionId === undefined ? undefined : sessions.findLive(sessionId);
      if (row === undefined) return undefined;
      const commit = events.commit(row, [event], at);
      sessions.saveCounters(row);
      return commit;
    },

    closeCall(callId, holder, event, at) {
      const owner = 'owner' in holder ? holder.owner : null;
      const mark = 'mark' in holder ? holder.mark : null;
      const sessionId = remove.get(callId, owner, mark);
      const row = sessionId === undefined ? undefined : sessions.findLive(sessionId);
      if (sessionId === undefined || row === undefined) return undefined;
      const commit = events.commit(row, [event], at);
      sessions.saveCounters(row);
      return { sessionId, commit };
    },

    renewCalls(lease, callIds) {
      const until = Date.now() + lease.milliseconds;
      for (const id of callIds) renew.run(until, id, lease.owner);
      return undefined;
    },
  };
}
