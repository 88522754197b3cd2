import type { Database } from 'better-sqlite3';
import { shownCount, type Message } from '../../../../core/model/message.js';
import type { Lease, ClaimedTurn, Turn, TurnOutcome, TurnStatus } from '../../../../core/model/turn.js';
import { toClaimedTurn, type TurnRow } from './turn-rows.js';
import type { SessionRow } from './session-row.js';

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

/** A turn that is still to be stored. */
export type NewTurn = Pick<Turn, 'id' | 'sessionId' | 'no' | 'app' | 'clientId' | 'keyId' | 'createdAt'>;

/** Where the turn of a claim that holds is stored. */
export interface OwnedTurn {
  readonly ref: number;
  readonly id: string;
  readonly session: number;
  readonly no: number;
}

/** The rows of `turns` and `messages`, for writers. */
export interface TurnTable {
  find(id: string): TurnRow | undefined;
  /** The turn if this claim of it still holds. */
  findOwned(turn: ClaimedTurn): OwnedTurn | undefined;
  findRunning(session: number): TurnRow | undefined;
  /** The queue of a session, in order. */
  findQueued(session: number): TurnRow[];
  /** The first of the queue. */
  findHead(session: number): TurnRow | undefined;
  /** How many turns of a session wait, and whether one runs. */
  countOpen(session: number): { readonly queued: number; readonly isRunning: boolean };
  insertQueued(session: number, turn: NewTurn): Turn;
  /** Stores a turn that its owner has from the start. */
  insertClaimed(session: number, turn: NewTurn, lease: Lease): ClaimedTurn;
  /** Gives a turn to an owner. `losses` is what is added to its losses. */
  claim(row: TurnRow, lease: Lease, losses: 0 | 1): ClaimedTurn;
  requestCancel(row: TurnRow): void;
  savePartialText(turn: OwnedTurn, text: string, since: number): void;
  end(ended: EndedTurn): void;
  /** Stores a new record, which the row of its session already counts. */
  addMessage(session: number, message: Message): void;
  /**
   * Stores records of a turn, in the place of those with the same id, and counts them in the row of the session, which
   * the caller saves.
   * @throws Error when the id is another turn's
   */
  putMessages(session: SessionRow, turnNo: number, messages: readonly Message[]): void;
}

const SELECT = 'SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.ref = t.session';

/** Prepares its statements. */
export function createTurnTable(db: Database): TurnTable {
  const select = db.prepare<[string], TurnRow>(`${SELECT} WHERE t.id = ?`);
  const selectRunning = db.prepare<[number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'running'`,
  );
  const selectQueued = db.prepare<[number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'queued' ORDER BY t.no`,
  );
  const selectHead = db.prepare<[number], TurnRow>(`${selectQueued.source} LIMIT 1`);
  // Read as arrays: objects of a row cost the driver more than the search.
  const selectOwned = db
    .prepare<[id: string, attempt: number, owner: string], [ref: number, session: number, no: number]>(
      "SELECT ref, session, no FROM turns WHERE id = ? AND status = 'running' AND attempt = ? AND owner = ?",
    )
    .raw();
  const countOpen = db
    .prepare<[number, number], [queued: number, running: number]>(
      `SELECT (SELECT count(*) FROM turns WHERE session = ? AND status = 'queued'),
         (SELECT count(*) FROM turns WHERE session = ? AND status = 'running')`,
    )
    .raw();
  const insert = db.prepare<
    [
      ...[
        session: number,
        id: string,
        no: number,
        app: string,
        clientId: string | null,
        keyId: string | null,
      ],
      ...[createdAt: number, status: TurnStatus, attempt: number, owner: string | null, leaseUntil: number],
    ]
  >(
    `INSERT INTO turns (session, id, no, app, client_id, key_id, created_at, status, attempt, owner, lease_until, losses,
       cancel_requested, input_tokens, output_tokens, shown_tokens, partial_text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, '')`,
  );
  const claim = db.prepare<[owner: string, leaseUntil: number, attempt: number, losses: number, ref: number]>(
    "UPDATE turns SET status = 'running', owner = ?, lease_until = ?, attempt = ?, losses = ? WHERE ref = ?",
  );
  const requestCancel = db.prepare<[number]>('UPDATE turns SET cancel_requested = 1 WHERE ref = ?');
  const savePartialText = db.prepare<[text: string, since: number, ref: number]>(
    'UPDATE turns SET partial_text = ?, partial_since = ?, partial_attempt = attempt WHERE ref = ?',
  );
  const end = db.prepare<
    [
      ...[status: TurnOutcome, endedAt: number, error: string | null, rig: string | null],
      ...[inputTokens: number, outputTokens: number, shownTokens: number, ref: number],
    ]
  >(
    `UPDATE turns SET status = ?, ended_at = ?, error = ?, rig = ?, owner = NULL, lease_until = 0,
       input_tokens = ?, output_tokens = ?, shown_tokens = ?, partial_text = '' WHERE ref = ?`,
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
  const selectSize = db
    .prepare<[id: string, session: number], [bytes: number, shown: number]>(
      `SELECT octet_length(content) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(tool_results), 0),
         (content <> '' OR role <> 'assistant') + coalesce(json_array_length(tool_results), 0)
       FROM messages WHERE id = ? AND session = ?`,
    )
    .raw();

  /** Returns how many bytes of text it holds. */
  function put(session: number, turnNo: number, message: Message): number {
    const { id, position, role, content, toolCalls, toolResults, createdAt } = message;
    const calls = toolCalls === null ? null : JSON.stringify(toolCalls);
    const results = toolResults === null ? null : JSON.stringify(toolResults);
    const { changes } = putMessage.run(
      ...([session, turnNo, id, position, role, content, calls, results, createdAt] as const),
    );
    if (changes === 0) throw new Error(`message ${id} belongs to another turn`);
    return Buffer.byteLength(content) + Buffer.byteLength(calls ?? '') + Buffer.byteLength(results ?? '');
  }

  return {
    find: (id) => select.get(id),
    findOwned({ id, attempt, owner }) {
      const found = selectOwned.get(id, attempt, owner);
      return found && { ref: found[0], id, session: found[1], no: found[2] };
    },
    findRunning: (session) => selectRunning.get(session),
    findQueued: (session) => selectQueued.all(session),
    findHead: (session) => selectHead.get(session),
    countOpen(session) {
      const [queued, running] = countOpen.get(session, session) ?? [0, 0];
      return { queued, isRunning: running > 0 };
    },
    insertQueued(session, turn) {
      const { id, no, app, clientId, keyId, createdAt } = turn;
      insert.run(session, id, no, app, clientId, keyId, createdAt, 'queued', 0, null, 0);
      return { ...turn, status: 'queued', error: null };
    },
    insertClaimed(session, turn, lease) {
      const { id, no, app, clientId, keyId, createdAt } = turn;
      const { owner } = lease;
      insert.run(session, id, no, app, clientId, keyId, createdAt, 'running', 1, owner, leaseEnd(lease));
      return {
        ...turn,
        status: 'running',
        error: null,
        owner,
        attempt: 1,
        losses: 0,
        cancelRequested: false,
        partialText: '',
        partialSince: 0,
      };
    },
    claim(row, lease, losses) {
      const next = { ...row, attempt: row.attempt + 1, losses: row.losses + losses };
      claim.run(lease.owner, leaseEnd(lease), next.attempt, next.losses, row.ref);
      return toClaimedTurn(next, lease.owner);
    },
    requestCancel(row) {
      requestCancel.run(row.ref);
    },
    savePartialText(turn, text, since) {
      savePartialText.run(text, since, turn.ref);
    },
    end({ ref, status, ended_at, error, rig, input_tokens, output_tokens, shown_tokens }) {
      end.run(status, ended_at, error, rig, input_tokens, output_tokens, shown_tokens, ref);
    },
    addMessage(session, message) {
      put(session, message.turnNo, message);
    },
    putMessages(session, turnNo, messages) {
      for (const message of messages) {
        const [bytes, shown] = selectSize.get(message.id, session.ref) ?? [0, 0];
        session.text_bytes += put(session.ref, turnNo, message) - bytes;
        session.shown_messages += shownCount(message) - shown;
      }
    },
  };
}

/** When a claim of now lapses, by this thread's clock: a lease is compared with the clock that it was given by. */
function leaseEnd(lease: Lease): number {
  return Date.now() + lease.milliseconds;
}
