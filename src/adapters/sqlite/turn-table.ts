import type { Database } from 'better-sqlite3';
import type { Message } from '../../core/message.js';
import type { Lease } from '../../core/store.js';
import type { ClaimedTurn, Turn, TurnOutcome } from '../../core/turn.js';
import { toClaimedTurn, type TurnRow } from './rows.js';

/** What is stored of a turn when it ends. */
export interface EndedTurn {
  readonly ref: number;
  readonly status: TurnOutcome;
  readonly ended_at: number;
  readonly error: string | null;
  readonly rig: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly shown_tokens: number;
}

/** A queued turn, still to be stored. */
export type NewTurn = Pick<Turn, 'id' | 'no' | 'app' | 'clientId' | 'keyId' | 'createdAt'>;

/** The rows of `turns` and `messages`, for writers. */
export interface TurnTable {
  find(id: string): TurnRow | undefined;
  /** The turn if this claim of it still holds. */
  findOwned(turn: ClaimedTurn): TurnRow | undefined;
  findRunning(session: number): TurnRow | undefined;
  /** The queue of a session, in order. */
  findQueued(session: number, limit: number): TurnRow[];
  countQueued(session: number): number;
  insert(session: number, turn: NewTurn): void;
  /** Gives a turn to an owner. `losses` is what is added to its losses. */
  claim(row: TurnRow, lease: Lease, losses: 0 | 1): ClaimedTurn;
  requestCancel(row: TurnRow): void;
  savePartialText(row: TurnRow, text: string): void;
  end(ended: EndedTurn): void;
  /** Stores records of a turn, in the place of those with the same id. @throws Error when the id is another turn's */
  putMessages(session: number, turnNo: number, messages: readonly Message[]): void;
}

const SELECT = 'SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.ref = t.session';

export function createTurnTable(db: Database): TurnTable {
  const select = db.prepare<[string], TurnRow>(`${SELECT} WHERE t.id = ?`);
  const selectRunning = db.prepare<[number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'running'`,
  );
  const selectQueued = db.prepare<[number, number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'queued' ORDER BY t.no LIMIT ?`,
  );
  const countQueued = db
    .prepare<[number], number>("SELECT count(*) FROM turns WHERE session = ? AND status = 'queued'")
    .pluck();
  const insert = db.prepare<[number, string, number, string, string | null, string | null, number]>(
    `INSERT INTO turns (session, id, no, app, client_id, key_id, created_at, status, attempt, losses, lease_until,
       cancel_requested, input_tokens, output_tokens, shown_tokens, partial_text)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', 0, 0, 0, 0, 0, 0, 0, '')`,
  );
  const claim = db.prepare<[owner: string, leaseUntil: number, attempt: number, losses: number, ref: number]>(
    "UPDATE turns SET status = 'running', owner = ?, lease_until = ?, attempt = ?, losses = ? WHERE ref = ?",
  );
  const requestCancel = db.prepare<[number]>('UPDATE turns SET cancel_requested = 1 WHERE ref = ?');
  const savePartialText = db.prepare<[string, number]>('UPDATE turns SET partial_text = ? WHERE ref = ?');
  const end = db.prepare<[EndedTurn]>(
    `UPDATE turns SET status = @status, ended_at = @ended_at, error = @error, rig = @rig, owner = NULL, lease_until = 0,
       input_tokens = @input_tokens, output_tokens = @output_tokens, shown_tokens = @shown_tokens, partial_text = '' WHERE ref = @ref`,
  );
  const putMessage = db.prepare<
    [number, number, string, number, string, string, string | null, string | null, number]
  >(
    `INSERT INTO messages (session, turn_no, id, position, role, content, tool_calls, tool_results, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET position = excluded.position, role = excluded.role, content = excluded.content,
       tool_calls = excluded.tool_calls, tool_results = excluded.tool_results, created_at = excluded.created_at
     WHERE messages.session = excluded.session AND messages.turn_no = excluded.turn_no`,
  );

  return {
    find: (id) => select.get(id),
    findOwned(turn) {
      const row = select.get(turn.id);
      const holds = row?.status === 'running' && row.attempt === turn.attempt && row.owner === turn.owner;
      return holds ? row : undefined;
    },
    findRunning: (session) => selectRunning.get(session),
    findQueued: (session, limit) => selectQueued.all(session, limit),
    countQueued: (session) => countQueued.get(session) ?? 0,
    insert(session, { id, no, app, clientId, keyId, createdAt }) {
      insert.run(session, id, no, app, clientId, keyId, createdAt);
    },
    claim(row, lease, losses) {
      const next = { ...row, attempt: row.attempt + 1, losses: row.losses + losses };
      // This thread's clock: a lease is compared with the clock that it was given by.
      claim.run(lease.owner, Date.now() + lease.milliseconds, next.attempt, next.losses, row.ref);
      return toClaimedTurn(next, lease.owner);
    },
    requestCancel(row) {
      requestCancel.run(row.ref);
    },
    savePartialText(row, text) {
      savePartialText.run(text, row.ref);
    },
    end(ended) {
      end.run(ended);
    },
    putMessages(session, turnNo, messages) {
      for (const { id, position, role, content, toolCalls, toolResults, createdAt } of messages) {
        const calls = toolCalls === null ? null : JSON.stringify(toolCalls);
        const results = toolResults === null ? null : JSON.stringify(toolResults);
        const { changes } = putMessage.run(
          ...([session, turnNo, id, position, role, content, calls, results, createdAt] as const),
        );
        if (changes === 0) throw new Error(`message ${id} belongs to another turn`);
      }
    },
  };
}
