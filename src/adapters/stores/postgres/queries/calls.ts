import type { CallStore } from '../../../../core/ports/call-store.js';
import type { Run, Statement } from '../connections.js';
import { toEventLists, toLogged } from '../rows.js';
import { callOf } from '../functions.js';

interface Counters {
  readonly revision: number;
  readonly last_event_id: number;
}

const OPEN_CALL = callOf('open_call', 8);
const LOG_CALL = callOf('log_call', 5);
const CLOSE_CALL = callOf('close_call', 6);
const READ_CALL_LEASES: Statement = {
  name: 'read_call_leases',
  text: `SELECT call_id AS id, call_mark(owner, lease_until) AS mark, tool_name,
      (extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS left_ms
    FROM open_calls`,
};
const RENEW_CALLS: Statement = {
  name: 'renew_calls',
  text: `UPDATE open_calls SET lease_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
    WHERE call_id = ANY ($1) AND owner = $2`,
};

/** Leases on tool calls outside turns. Lease times use the database's clock. */
export function createCalls(run: Run): CallStore {
  return {
    async openCall({ callId, sessionId, toolName }, { owner, milliseconds }, event, at) {
      const values = [sessionId, callId, toolName, owner, milliseconds, ...toEventLists([event]), at];
      const [row] = await run<{ result: Counters | null }>(OPEN_CALL, values);
      const counters = row?.result ?? null;
      if (counters === null) return undefined;
      return { revision: counters.revision, events: toLogged([event], counters.last_event_id, at) };
    },

    async logCall(callId, owner, event, at) {
      const [row] = await run<{ result: Counters | null }>(LOG_CALL, [
        callId,
        owner,
        ...toEventLists([event]),
        at,
      ]);
      const counters = row?.result ?? null;
      if (counters === null) return undefined;
      return { revision: counters.revision, events: toLogged([event], counters.last_event_id, at) };
    },

    async closeCall(callId, holder, event, at) {
      const owner = 'owner' in holder ? holder.owner : null;
      const mark = 'mark' in holder ? holder.mark : null;
      const values = [callId, owner, mark, ...toEventLists([event]), at];
      const [row] = await run<{ result: { session_id: string; counters: Counters | null } | null }>(
        CLOSE_CALL,
        values,
      );
      const closed = row?.result ?? null;
      if (!closed?.counters) return undefined;
      const { revision, last_event_id: lastId } = closed.counters;
      return {
        sessionId: closed.session_id,
        commit: { revision, events: toLogged([event], lastId, at) },
      };
    },

    async readCallLeases() {
      const rows = await run<{ id: string; mark: string; tool_name: string; left_ms: number }>(
        READ_CALL_LEASES,
        [],
      );
      return rows.map(({ id, mark, tool_name: toolName, left_ms: leftMs }) => ({
        id,
        mark,
        toolName,
        leftMs,
      }));
    },

    async renewCalls({ owner, milliseconds }, callIds) {
      if (callIds.length > 0) await run(RENEW_CALLS, [callIds, owner, milliseconds]);
    },
  };
}
