import {
  MAX_FAILURES,
  type ActivityRow,
  type FailureRow,
  type OverviewStore,
  type WorkTotal,
} from '../../../../core/ports/overview-store.js';
import { isDurations } from '../../../../core/model/stored-shapes.js';
import type { Run, Statement } from '../connections.js';
import { toJson } from '../rows.js';

// Sorted, so that rows are locked in a fixed order and concurrent nodes cannot deadlock. One statement, because a caller
// that repeats a failed save would add the work again. Its DELETE does not see the failures that it inserts.
const SAVE: Statement = {
  name: 'save_activity',
  text: `WITH minutes AS (
      INSERT INTO activity
        (at, node, complete, interrupted, failed, input_tokens, output_tokens, first_text, duration)
      SELECT at, node, complete, interrupted, failed, "inputTokens", "outputTokens", "firstText", duration
      FROM json_to_recordset($1::json) AS r (at bigint, node text, complete bigint, interrupted bigint,
        failed bigint, "inputTokens" bigint, "outputTokens" bigint, "firstText" text, duration text)
      ORDER BY at, node COLLATE "C"
      ON CONFLICT (at, node) DO UPDATE SET complete = EXCLUDED.complete, interrupted = EXCLUDED.interrupted,
        failed = EXCLUDED.failed, input_tokens = EXCLUDED.input_tokens, output_tokens = EXCLUDED.output_tokens,
        first_text = EXCLUDED.first_text, duration = EXCLUDED.duration
    ), failed AS (
      INSERT INTO failures (at, turn_id, of_session, app, rig, reason)
      SELECT at, "turnId",
        coalesce((SELECT s.id FROM sessions s WHERE s.id = "sessionId" AND s.deleted_at IS NULL), ''), app, rig, reason
      FROM json_to_recordset($2::json) AS r (at bigint, "turnId" text, "sessionId" text, app text, rig text,
        reason text)
      ORDER BY at DESC, "turnId" COLLATE "C" DESC LIMIT $4
      ON CONFLICT DO NOTHING
    ), trimmed AS (
      DELETE FROM failures WHERE json_array_length($2::json) > 0 AND ctid = ANY (ARRAY(
        SELECT ctid FROM failures ORDER BY at DESC, turn_id DESC
        OFFSET greatest($4 - json_array_length($2::json), 0) FOR UPDATE SKIP LOCKED))
    )
    INSERT INTO work (day, app, key_id, turns, input_tokens, output_tokens)
    SELECT day, app, coalesce("keyId", ''), sum(turns), sum("inputTokens"), sum("outputTokens")
    FROM json_to_recordset($3::json) AS r (day bigint, app text, "keyId" text, turns bigint,
      "inputTokens" bigint, "outputTokens" bigint)
    GROUP BY 1, 2, 3
    ORDER BY day, app COLLATE "C", coalesce("keyId", '') COLLATE "C"
    ON CONFLICT (day, app, key_id) DO UPDATE SET turns = work.turns + EXCLUDED.turns,
      input_tokens = work.input_tokens + EXCLUDED.input_tokens,
      output_tokens = work.output_tokens + EXCLUDED.output_tokens`,
};
const READ_MINUTES: Statement = {
  name: 'read_activity',
  text: `SELECT at, node, complete, interrupted, failed, input_tokens AS "inputTokens",
      output_tokens AS "outputTokens", first_text AS "firstText", duration
    FROM activity WHERE at >= $1 ORDER BY at, node`,
};
const READ_FAILURES: Statement = {
  name: 'read_failures',
  text: `SELECT f.at, f.turn_id AS "turnId", nullif(f.of_session, '') AS "sessionId", f.app, f.rig, f.reason, live.error
    FROM failures f
    LEFT JOIN (SELECT t.id, t.error FROM turns t JOIN sessions s ON s.ref = t.session WHERE s.deleted_at IS NULL)
      AS live ON live.id = f.turn_id
    ORDER BY f.at DESC, f.turn_id DESC LIMIT $1`,
};
const READ_WORK: Statement = {
  name: 'read_work',
  text: `SELECT app, nullif(key_id, '') AS "keyId", sum(turns)::bigint AS turns,
      sum(input_tokens)::bigint AS "inputTokens", sum(output_tokens)::bigint AS "outputTokens"
    FROM work WHERE day >= $1 GROUP BY app, key_id ORDER BY sum(turns) DESC, app, key_id`,
};

type MinuteRow = Omit<ActivityRow, 'firstText' | 'duration'> & {
  /** JSON. */
  readonly firstText: string;
  readonly duration: string;
};

/** The history of the operator's overview. */
export function createActivity(
  run: Run,
): Pick<OverviewStore, 'saveActivity' | 'readActivity' | 'readFailures' | 'readWork'> {
  return {
    async saveActivity({ minutes, failures, work }) {
      const rows = minutes.map((row) => ({
        ...row,
        firstText: JSON.stringify(row.firstText),
        duration: JSON.stringify(row.duration),
      }));
      await run(SAVE, [toJson(rows), toJson(failures), toJson(work), MAX_FAILURES]);
    },
    async readActivity(since) {
      const rows = await run<MinuteRow>(READ_MINUTES, [since]);
      return rows.map((row) => ({
        ...row,
        firstText: durationsOf(row.firstText),
        duration: durationsOf(row.duration),
      }));
    },
    readFailures: (limit) => run<FailureRow & { readonly error: string | null }>(READ_FAILURES, [limit]),
    readWork: (since) => run<WorkTotal>(READ_WORK, [since]),
  };
}

function durationsOf(text: string): ActivityRow['duration'] {
  const value: unknown = JSON.parse(text);
  return isDurations(value) ? value : {};
}
