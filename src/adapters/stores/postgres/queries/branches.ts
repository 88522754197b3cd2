import { PLACEHOLDER_TITLE } from '../../../../core/model/session.js';
import type { TurnStatus } from '../../../../core/model/turn.js';
import type { Branched, BranchStore } from '../../../../core/ports/stored-thread.js';
import type { Run, Statement } from '../connections.js';
import { toFields, toSession, type SessionRow } from '../rows.js';
import { callOf, resultOf } from '../functions.js';

type Result =
  | { readonly kind: 'branched'; readonly session: SessionRow; readonly bytes: number }
  | { readonly kind: 'repeated'; readonly session_id: string }
  | Exclude<Branched, { kind: 'branched' | 'repeated' }>;

interface SummaryRow {
  readonly id: string;
  readonly no: number;
  readonly app: string;
  readonly status: TurnStatus;
  readonly error: string | null;
  readonly rig: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const BRANCH = callOf('branch_session', 12);
const READ_TURNS: Statement = {
  name: 'read_turns',
  text: `SELECT t.id, t.no, t.app, t.status, t.error, t.rig, t.created_at AS "createdAt", t.ended_at AS "endedAt",
      t.input_tokens AS "inputTokens", t.output_tokens AS "outputTokens"
    FROM sessions s JOIN turns t ON t.session = s.ref
    WHERE s.id = $1 AND s.deleted_at IS NULL AND t.no BETWEEN $2 AND $3 ORDER BY t.no`,
};

/** Branches, and what turns were like. Each is a single statement. */
export function createBranches(run: Run): BranchStore {
  return {
    async branchSession({ sourceId, ifVersion, before, id, set, idempotency, maxSessionBytes, at }) {
      const result = await resultOf<Result>(run, BRANCH, [
        ...[sourceId, ifVersion, before, id, PLACEHOLDER_TITLE, ...toFields(set)],
        ...[idempotency?.key ?? null, idempotency?.fingerprint ?? null, idempotency?.notBefore ?? null],
        ...[maxSessionBytes, at],
      ]);
      if (result.kind === 'repeated') return { kind: 'repeated', sessionId: result.session_id };
      return result.kind === 'branched' ? { ...result, session: toSession(result.session) } : result;
    },

    async readTurns(id, { from, to }) {
      const rows = await run<SummaryRow>(READ_TURNS, [id, from, to]);
      return rows.map(({ inputTokens, outputTokens, ...turn }) => ({
        ...turn,
        usage: { inputTokens, outputTokens },
      }));
    },
  };
}
