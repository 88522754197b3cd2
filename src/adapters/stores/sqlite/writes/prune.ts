import type { Database } from 'better-sqlite3';
import type { Prune } from '../../../../core/ports/store.js';
import type { SessionRow } from '../rows/session-row.js';
import type { Bury } from './sessions.js';
import type { Handlers, PruneStage, Pruned } from '../steps.js';
import { LIMIT, limitOf } from '../reads/limit.js';

/** Limits of one step, so that other writes wait only a few milliseconds for it. */
const THREADS_A_STEP = 20;
/** Text of the threads of a step, in bytes; one longer thread has a step of its own. */
const TEXT_A_STEP = 2_097_152;
const LOGS_A_STEP = 100;
const ROWS_A_STEP = 2000;

/** A log that has grown since it was last trimmed. */
interface ListedLog {
  readonly session: number;
  readonly last_event_id: number;
  readonly last_system_no: number;
  readonly faults_shown: number;
}

/** Creates the step that removes a bounded amount of expired data. */
export function createPruneSome(db: Database, bury: Bury): Handlers['pruneSome'] {
  const selectIdle = db.prepare<[before: number, limit: number], SessionRow>(
    `SELECT * FROM sessions s WHERE deleted_at IS NULL AND active_at < ?
       AND NOT EXISTS (SELECT 1 FROM turns WHERE session = s.ref AND status = 'running')
       AND NOT EXISTS (SELECT 1 FROM turns WHERE session = s.ref AND status = 'queued')
     ORDER BY active_at, id ${LIMIT}`,
  );
  const selectLogs = db.prepare<[before: number, limit: number], ListedLog>(
    `SELECT l.session, s.last_event_id, s.last_system_no, s.faults_shown
     FROM long_logs l JOIN sessions s ON s.ref = l.session
     WHERE l.oldest_at < ? ORDER BY l.oldest_at, l.session ${LIMIT}`,
  );
  const selectOldest = db
    .prepare<[session: number, upTo: number], number>(
      'SELECT at FROM events WHERE session = ? AND id <= ? ORDER BY id LIMIT 1',
    )
    .pluck();
  const selectOldestSystem = db
    .prepare<[session: number, upTo: number], number>(
      'SELECT at FROM system_events WHERE session = ? AND n <= ? ORDER BY n LIMIT 1',
    )
    .pluck();
  const unlist = db.prepare<[session: number]>('DELETE FROM long_logs WHERE session = ?');
  const updateOldest = db.prepare<[oldest: number, session: number]>(
    'UPDATE long_logs SET oldest_at = ? WHERE session = ?',
  );
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

  const removeUsage = db.prepare<[before: number, limit: number]>(
    `DELETE FROM usage WHERE (day, surface, endpoint, key_id, client) IN
       (SELECT day, surface, endpoint, key_id, client FROM usage WHERE day < ? ORDER BY day ${LIMIT})`,
  );
  const removeWork = db.prepare<[before: number, limit: number]>(
    `DELETE FROM work WHERE (day, app, key_id) IN
       (SELECT day, app, key_id FROM work WHERE day < ? ORDER BY day ${LIMIT})`,
  );
  const removeMinutes = db.prepare<[before: number, limit: number]>(
    `DELETE FROM activity WHERE (at, node) IN
       (SELECT at, node FROM activity WHERE at < ? ORDER BY at, node ${LIMIT})`,
  );
  const removeFailures = db.prepare<[before: number, limit: number]>(
    `DELETE FROM failures WHERE (at, turn_id) IN
       (SELECT at, turn_id FROM failures WHERE at < ? ORDER BY at, turn_id ${LIMIT})`,
  );
  const removeUses = db.prepare<[before: number, limit: number]>(
    `DELETE FROM uses WHERE (subject, measure, window_from) IN
       (SELECT subject, measure, window_from FROM uses WHERE window_from < ? ORDER BY window_from ${LIMIT})`,
  );

  const removePast = db.prepare<[before: number, limit: number]>(
    `DELETE FROM past_transactions WHERE (of_session, id) IN
       (SELECT of_session, id FROM past_transactions WHERE requested_at < ? ORDER BY requested_at ${LIMIT})`,
  );

  function pruneThreads(prune: Prune): Pruned {
    const idle = prune.threadsBefore === null ? [] : selectIdle.all(prune.threadsBefore, THREADS_A_STEP);
    const deleted: string[] = [];
    let bytes = 0;
    for (const row of idle) {
      bytes += row.text_bytes;
      if (bytes > TEXT_A_STEP && deleted.length > 0) break;
      bury(row, prune.at);
      deleted.push(row.id);
    }
    const more = deleted.length < idle.length || idle.length === THREADS_A_STEP;
    return { deleted, next: more ? 'threads' : 'events' };
  }

  function pruneEvents({ eventsKept, eventsSince }: Prune): Pruned {
    const logs = selectLogs.all(eventsSince, LOGS_A_STEP);
    let budget = ROWS_A_STEP;
    for (const { session, last_event_id, last_system_no, faults_shown } of logs) {
      const upTo = last_event_id - eventsKept;
      const systemUpTo = last_system_no - eventsKept;
      budget -= removeEvents.run({ session, upTo, before: eventsSince, limit: budget }).changes;
      // This log may have more old events: it stays the first one that is due.
      if (budget <= 0) return { deleted: [], next: 'events' };
      removeSystemEvents.run(session, systemUpTo, eventsSince, faults_shown);
      const left = [selectOldest.get(session, upTo), selectOldestSystem.get(session, systemUpTo)];
      const oldest = Math.min(...left.filter((at) => at !== undefined));
      if (oldest === Infinity) unlist.run(session);
      // An error that no snapshot has delivered stays, however old: the next prune looks at it again.
      else updateOldest.run(Math.max(oldest, eventsSince), session);
    }
    return { deleted: [], next: logs.length === LOGS_A_STEP ? 'events' : 'keys' };
  }

  function pruneKeys(prune: Prune): Pruned {
    const removed = [
      removeUses.run(prune.usesBefore, ROWS_A_STEP),
      removePast.run(prune.transactionsBefore, ROWS_A_STEP),
      removeUsage.run(prune.usageBefore, ROWS_A_STEP),
      removeWork.run(prune.usageBefore, ROWS_A_STEP),
      removeKeys.run(prune.idempotencyBefore, ROWS_A_STEP),
    ];
    const isMore = removed.some(({ changes }) => changes === ROWS_A_STEP);
    return { deleted: [], next: isMore ? 'keys' : 'activity' };
  }

  function pruneActivity(prune: Prune): Pruned {
    const removed = [removeMinutes, removeFailures].map(
      (remove) => remove.run(prune.activityBefore, ROWS_A_STEP).changes,
    );
    return { deleted: [], next: removed.includes(ROWS_A_STEP) ? 'activity' : null };
  }

  const stages: Readonly<Record<PruneStage, (prune: Prune) => Pruned>> = {
    ...{ threads: pruneThreads, events: pruneEvents, keys: pruneKeys, activity: pruneActivity },
  };
  return (prune, stage) => stages[stage](prune);
}
