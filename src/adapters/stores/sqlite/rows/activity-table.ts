import type { Database } from 'better-sqlite3';
import {
  MAX_FAILURES,
  type ActivityRow,
  type FailureRow,
  type OverviewStore,
  type WorkRow,
  type WorkTotal,
} from '../../../../core/ports/overview-store.js';
import { LIMIT } from '../reads/limit.js';
import type { Handlers } from '../steps.js';
import { parseDurations } from './json-columns.js';

/** The stored form of a minute. */
type MinuteParams = Omit<ActivityRow, 'firstText' | 'duration'> & {
  /** JSON. */
  readonly firstText: string;
  readonly duration: string;
};

/** Creates the step that stores history. */
export function createSaveActivity(db: Database): Handlers['saveActivity'] {
  const saveMinute = db.prepare<[MinuteParams]>(
    `INSERT OR REPLACE INTO activity
       (at, node, complete, interrupted, failed, input_tokens, output_tokens, first_text, duration)
     VALUES (@at, @node, @complete, @interrupted, @failed, @inputTokens, @outputTokens, @firstText, @duration)`,
  );
  const addFailure = db.prepare<[FailureRow]>(
    `INSERT OR IGNORE INTO failures (at, turn_id, of_session, app, rig, reason)
     VALUES (@at, @turnId,
       coalesce((SELECT id FROM sessions WHERE id = @sessionId AND deleted_at IS NULL), ''), @app, @rig, @reason)`,
  );
  const dropFailures = db.prepare<[kept: number]>(
    `DELETE FROM failures WHERE (at, turn_id) IN
       (SELECT at, turn_id FROM failures ORDER BY at DESC, turn_id DESC LIMIT -1 OFFSET ?)`,
  );
  const addWork = db.prepare<[WorkRow & { readonly keyId: string }]>(
    `INSERT INTO work (day, app, key_id, turns, input_tokens, output_tokens)
     VALUES (@day, @app, @keyId, @turns, @inputTokens, @outputTokens)
     ON CONFLICT (day, app, key_id) DO UPDATE SET turns = turns + excluded.turns,
       input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens`,
  );
  return ({ minutes, failures, work }) => {
    for (const row of minutes) {
      const [firstText, duration] = [JSON.stringify(row.firstText), JSON.stringify(row.duration)];
      saveMinute.run({ ...row, firstText, duration });
    }
    for (const row of failures) addFailure.run(row);
    if (failures.length > 0) dropFailures.run(MAX_FAILURES);
    for (const row of work) addWork.run({ ...row, keyId: row.keyId ?? '' });
    return undefined;
  };
}

type Read<K extends keyof OverviewStore> = (given: number) => Awaited<ReturnType<OverviewStore[K]>>;

/** Creates the reads of history. */
export function createActivityReads(db: Database): {
  readonly [K in 'readActivity' | 'readFailures' | 'readWork']: Read<K>;
} {
  const selectMinutes = db.prepare<[since: number], MinuteParams>(
    `SELECT at, node, complete, interrupted, failed, input_tokens AS inputTokens, output_tokens AS outputTokens,
       first_text AS firstText, duration FROM activity WHERE at >= ? ORDER BY at, node`,
  );
  const selectFailures = db.prepare<[limit: number], FailureRow & { readonly error: string | null }>(
    `SELECT f.at, f.turn_id AS turnId, nullif(f.of_session, '') AS sessionId, f.app, f.rig, f.reason, t.error
     FROM failures f LEFT JOIN turns t ON t.id = f.turn_id ORDER BY f.at DESC, f.turn_id DESC ${LIMIT}`,
  );
  const selectWork = db.prepare<[since: number], WorkTotal>(
    `SELECT app, nullif(key_id, '') AS keyId, sum(turns) AS turns, sum(input_tokens) AS inputTokens,
       sum(output_tokens) AS outputTokens
     FROM work WHERE day >= ? GROUP BY app, key_id ORDER BY sum(turns) DESC, app, key_id`,
  );
  return {
    readActivity: (since) =>
      selectMinutes.all(since).map(({ firstText, duration, ...row }) => ({
        ...row,
        firstText: parseDurations(firstText),
        duration: parseDurations(duration),
      })),
    readFailures: (limit) => selectFailures.all(limit),
    readWork: (since) => selectWork.all(since),
  };
}
