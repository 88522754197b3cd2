import type { Database } from 'better-sqlite3';
import type { Prune } from '../../../../core/ports/store.js';
import type { SessionRow } from '../rows/session-row.js';
import type { Bury } from './sessions.js';
import type { Handlers, PruneCursor, Pruned } from '../steps.js';
import { LIMIT, limitOf } from '../reads/limit.js';

export const PRUNE_START: PruneCursor = { stage: 'threads', after: 0 };

/** Limits of one step, so that other writes wait only a few milliseconds for it. */
const THREADS_A_STEP = 20;
const SESSIONS_A_STEP = 500;
const ROWS_A_STEP = 2000;

/** Creates the step that removes a bounded amount of expired data. */
export function createPruneSome(db: Database, bury: Bury): Handlers['pruneSome'] {
  const selectIdle = db.prepare<[before: number, limit: number], SessionRow>(
    `SELECT * FROM sessions s WHERE deleted_at IS NULL AND active_at < ?
       AND NOT EXISTS (SELECT 1 FROM turns WHERE session = s.ref AND status = 'running')
       AND NOT EXISTS (SELECT 1 FROM turns WHERE session = s.ref AND status = 'queued')
     ORDER BY active_at, id ${LIMIT}`,
  );
  // Reads arrays of four columns: this query visits all sessions, and whole row objects are much slower.
  const selectSessions = db
    .prepare<
      [after: number, limit: number],
      [ref: number, lastEventId: number, lastSystemNo: number, faultsShown: number]
    >(
      `SELECT ref, last_event_id, last_system_no, faults_shown FROM sessions WHERE ref > ? ORDER BY ref ${LIMIT}`,
    )
    .raw();
  const removeEvents = db.prepare<[{ session: number; upTo: number; before: number; limit: number }]>(
    `DELETE FROM events WHERE session = @session AND id IN (
       SELECT id FROM events WHERE session = @session AND id <= @upTo AND at < @before ORDER BY id ${limitOf('limit')})`,
  );
  const removeSystemEvents = db.prepare<[session: number, upTo: number, before: number, shown: number]>(
    `DELETE FROM system_events
     WHERE session = ? AND n <= ? AND at < ? AND (kind = 'SystemNotice' OR n <= ?)`,
  );
  const removeKeys = db.prepare<[before: number, limit: number]>(
    `DELETE FROM idempotency_keys WHERE (session, key) IN
       (SELECT session, key FROM idempotency_keys WHERE created_at < ? ORDER BY created_at ${LIMIT})`,
  );

  const removeUsage = db.prepare<[before: number]>('DELETE FROM usage WHERE day < ?');
  const removeWork = db.prepare<[before: number]>('DELETE FROM work WHERE day < ?');
  const removeMinutes = db.prepare<[before: number, limit: number]>(
    `DELETE FROM activity WHERE (at, node) IN
       (SELECT at, node FROM activity WHERE at < ? ORDER BY at, node ${LIMIT})`,
  );
  const removeFailures = db.prepare<[before: number, limit: number]>(
    `DELETE FROM failures WHERE (at, turn_id) IN
       (SELECT at, turn_id FROM failures WHERE at < ? ORDER BY at, turn_id ${LIMIT})`,
  );
  const removeUses = db.prepare<[before: number]>('DELETE FROM uses WHERE window_from < ?');

  function pruneThreads(prune: Prune, from: PruneCursor): Pruned {
    const idle = prune.threadsBefore === null ? [] : selectIdle.all(prune.threadsBefore, THREADS_A_STEP);
    for (const row of idle) bury(row, prune.at);
    const more = idle.length === THREADS_A_STEP;
    return { deleted: idle.map(({ id }) => id), next: more ? from : { stage: 'events', after: 0 } };
  }

  function pruneEvents(prune: Prune, from: PruneCursor): Pruned {
    const rows = selectSessions.all(from.after, SESSIONS_A_STEP);
    let budget = ROWS_A_STEP;
    let after = from.after;
    for (const [ref, lastEventId, lastSystemNo, faultsShown] of rows) {
      const { eventsKept, eventsSince } = prune;
      if (lastEventId > eventsKept) {
        const upTo = lastEventId - eventsKept;
        budget -= removeEvents.run({ session: ref, upTo, before: eventsSince, limit: budget }).changes;
        // This session may have more old events: the next step starts with it again.
        if (budget <= 0) return { deleted: [], next: { stage: 'events', after } };
      }
      if (lastSystemNo > eventsKept) {
        removeSystemEvents.run(ref, lastSystemNo - eventsKept, eventsSince, faultsShown);
      }
      after = ref;
    }
    const more = rows.length === SESSIONS_A_STEP;
    return { deleted: [], next: more ? { stage: 'events', after } : { stage: 'keys', after: 0 } };
  }

  function pruneKeys(prune: Prune, from: PruneCursor): Pruned {
    removeUses.run(prune.usesBefore);
    removeUsage.run(prune.usageBefore);
    removeWork.run(prune.usageBefore);
    const { changes } = removeKeys.run(prune.idempotencyBefore, ROWS_A_STEP);
    return { deleted: [], next: changes === ROWS_A_STEP ? from : { stage: 'activity', after: 0 } };
  }

  function pruneActivity(prune: Prune, from: PruneCursor): Pruned {
    const removed = [removeMinutes, removeFailures].map(
      (remove) => remove.run(prune.activityBefore, ROWS_A_STEP).changes,
    );
    return { deleted: [], next: removed.includes(ROWS_A_STEP) ? from : null };
  }

  const stages = {
    ...{ threads: pruneThreads, events: pruneEvents, keys: pruneKeys, activity: pruneActivity },
  } as const;
  return (prune, from) => stages[from.stage](prune, from);
}
