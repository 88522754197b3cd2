import type { Database } from 'better-sqlite3';
import { shownCount, type Message } from '../../../../core/model/message.js';
import type { AttemptUse } from '../../../../core/ports/lease-store.js';
import type {
  Lease,
  ClaimedTurn,
  Turn,
  TurnOutcome,
  TurnStatus,
  TurnClaim,
} from '../../../../core/model/turn.js';
import { toClaimedTurn, type TurnRow } from './turn-rows.js';
import type { SessionRow } from './session-row.js';

/** The columns that are written when a turn ends. */
export interface EndedTurn {
  readonly ref: number;
  readonly status: TurnOutcome;
  readonly ended_at: number;
  readonly error: string | null;
  readonly rig: string | null;
}

/** A turn that is not stored yet. */
export type NewTurn = Pick<Turn, 'id' | 'sessionId' | 'no' | 'app' | 'clientId' | 'keyId' | 'createdAt'>;

/** The keys of a turn whose claim is still valid. */
export interface OwnedTurn {
  readonly ref: number;
  readonly id: string;
  readonly session: number;
  readonly no: number;
  /** 1: an interrupt was requested. */
  readonly cancel_requested: 0 | 1;
}

/** Reads and writes `turns` and `messages`. */
export interface TurnTable {
  find(id: string): TurnRow | undefined;
  /** Returns the turn if it runs and this attempt still owns it. */
  findOwned(turn: TurnClaim): OwnedTurn | undefined;
  findRunning(session: number): TurnRow | undefined;
  /** Returns the queued turns of a session, in order. */
  findQueued(session: number): TurnRow[];
  /** Returns the first queued turn of a session. */
  findHead(session: number): TurnRow | undefined;
  /** Counts the queued turns of a session, and checks whether one runs. */
  countOpen(session: number): { readonly queued: number; readonly isRunning: boolean };
  /** Returns the client of the last turn of a session that has one. */
  findLastClient(session: number): string | null;
  /** Returns the id of the key of the last turn of a session in an App that has one. */
  findLastKey(session: number, app: string): string | null;
  insertQueued(session: number, turn: NewTurn): Turn;
  /** Stores a turn that has ended when it was created. */
  insertComplete(session: number, turn: NewTurn): Turn;
  /** Stores a running turn that is claimed by its owner from the start. */
  insertClaimed(session: number, turn: NewTurn, lease: Lease): ClaimedTurn;
  /** Assigns a turn to an owner. @param losses added to the turn's losses */
  claim(row: TurnRow, lease: Lease, losses: 0 | 1): ClaimedTurn;
  requestCancel(row: TurnRow): void;
  savePartialText(turn: OwnedTurn, text: string, since: number): void;
  end(ended: EndedTurn): void;
  /** Adds the tokens of an attempt to those of earlier attempts. */
  addTokens(ref: number, used: Pick<AttemptUse, 'usage' | 'shownTokens'>): void;
  /** Stores a new message. The caller has already counted it in the session row. */
  addMessage(session: number, message: Message): void;
  /**
   * Inserts or replaces messages of a turn by id, and counts them in the session row, which the caller saves.
   * @throws Error when an id belongs to another turn
   */
  putMessages(session: SessionRow, turnNo: number, messages: readonly Message[]): void;
}

const SELECT = 'SELECT t.*, s.id AS session_id FROM turns t JOIN sessions s ON s.ref = t.session';

export function createTurnTable(db: Database): TurnTable {
  const select = db.prepare<[string], TurnRow>(`${SELECT} WHERE t.id = ?`);
  const selectRunning = db.prepare<[number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'running'`,
  );
  const selectQueued = db.prepare<[number], TurnRow>(
    `${SELECT} WHERE t.session = ? AND t.status = 'queued' ORDER BY t.no`,
  );
  const selectHead = db.prepare<[number], TurnRow>(`${selectQueued.source} LIMIT 1`);
  const selectOwned = db.prepare<[id: string, attempt: number, owner: string], OwnedTurn>(
    `SELECT ref, id, session, no, cancel_requested FROM turns
     WHERE id = ? AND status = 'running' AND attempt = ? AND owner = ?`,
  );
  const countOpen = db
    .prepare<[number, number], [queued: number, running: number]>(
      `SELECT (SELECT count(*) FROM turns WHERE session = ? AND status = 'queued'),
         (SELECT count(*) FROM turns WHERE session = ? AND status = 'running')`,
    )
    .raw();
  const selectLastClient = db
    .prepare<[number], string>(
      'SELECT client_id FROM turns WHERE session = ? AND client_id IS NOT NULL ORDER BY no DESC LIMIT 1',
    )
    .pluck();
  const selectLastKey = db
    .prepare<[number, string], string>(
      'SELECT key_id FROM turns WHERE session = ? AND app = ? AND key_id IS NOT NULL ORDER BY no DESC LIMIT 1',
    )
    .pluck();
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
      endedAt: number | null,
    ]
  >(
    `INSERT INTO turns (session, id, no, app, client_id, key_id, created_at, status, attempt, owner, lease_until, ended_at,
       losses, cancel_requested, input_tokens, output_tokens, shown_tokens, partial_text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, '')`,
  );
  const claim = db.prepare<[owner: string, leaseUntil: number, attempt: number, losses: number, ref: number]>(
    "UPDATE turns SET status = 'running', owner = ?, lease_until = ?, attempt = ?, losses = ? WHERE ref = ?",
  );
  const requestCancel = db.prepare<[number]>('UPDATE turns SET cancel_requested = 1 WHERE ref = ?');
  const savePartialText = db.prepare<[text: string, since: number, ref: number]>(
    'UPDATE turns SET partial_text = ?, partial_since = ?, partial_attempt = attempt WHERE ref = ?',
  );
  const end = db.prepare<
    [status: TurnOutcome, endedAt: number, error: string | null, rig: string | null, ref: number]
  >(
    `UPDATE turns SET status = ?, ended_at = ?, error = ?, rig = ?, owner = NULL, lease_until = 0, partial_text = ''
     WHERE ref = ?`,
  );
  const addTokens = db.prepare<[input: number, output: number, shown: number, ref: number]>(
    `UPDATE turns SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       shown_tokens = shown_tokens + ? WHERE ref = ?`,
  );
  const putMessage = db.prepare<
    [
      ...[session: number, turnNo: number, id: string, position: number, role: string, content: string],
      ...[toolCalls: string | null, toolResults: string | null, createdAt: number, origin: string | null],
    ]
  >(
    `INSERT INTO messages (session, turn_no, id, position, role, content, tool_calls, tool_results, created_at, origin)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET position = excluded.position, role = excluded.role, content = excluded.content,
       tool_calls = excluded.tool_calls, tool_results = excluded.tool_results, created_at = excluded.created_at,
       origin = excluded.origin
     WHERE messages.session = excluded.session AND messages.turn_no = excluded.turn_no`,
  );
  const selectSize = db
    .prepare<[id: string, session: number], [bytes: number, shown: number]>(
      `SELECT octet_length(content) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(tool_results), 0),
         (content <> '' OR role <> 'assistant') + coalesce(json_array_length(tool_results), 0)
       FROM messages WHERE id = ? AND session = ?`,
    )
    .raw();

  /** Inserts or replaces a message. Returns its size, in bytes of text. */
  function put(session: number, turnNo: number, message: Message): number {
    const { id, position, role, content, toolCalls, toolResults, createdAt, origin = null } = message;
    const calls = toolCalls === null ? null : JSON.stringify(toolCalls);
    const results = toolResults === null ? null : JSON.stringify(toolResults);
    const { changes } = putMessage.run(
      ...([session, turnNo, id, position, role, content, calls, results, createdAt, origin] as const),
    );
    if (changes === 0) throw new Error(`message ${id} belongs to another turn`);
    return Buffer.byteLength(content) + Buffer.byteLength(calls ?? '') + Buffer.byteLength(results ?? '');
  }

  return {
    find: (id) => select.get(id),
    findOwned: ({ id, attempt, owner }) => selectOwned.get(id, attempt, owner),
    findRunning: (session) => selectRunning.get(session),
    findQueued: (session) => selectQueued.all(session),
    findHead: (session) => selectHead.get(session),
    countOpen(session) {
      const [queued, running] = countOpen.get(session, session) ?? [0, 0];
      return { queued, isRunning: running > 0 };
    },
    findLastClient: (session) => selectLastClient.get(session) ?? null,
    findLastKey: (session, app) => selectLastKey.get(session, app) ?? null,
    insertQueued(session, turn) {
      const { id, no, app, clientId, keyId, createdAt } = turn;
      insert.run(session, id, no, app, clientId, keyId, createdAt, 'queued', 0, null, 0, null);
      return { ...turn, status: 'queued', error: null };
    },
    insertComplete(session, turn) {
      const { id, no, app, clientId, keyId, createdAt } = turn;
      insert.run(session, id, no, app, clientId, keyId, createdAt, 'complete', 0, null, 0, createdAt);
      return { ...turn, status: 'complete', error: null };
    },
    insertClaimed(session, turn, lease) {
      const { id, no, app, clientId, keyId, createdAt } = turn;
      const { owner } = lease;
      insert.run(
        session,
        id,
        no,
        app,
        clientId,
        keyId,
        createdAt,
        'running',
        1,
        owner,
        leaseEnd(lease),
        null,
      );
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
    end({ ref, status, ended_at, error, rig }) {
      end.run(status, ended_at, error, rig, ref);
    },
    addTokens(ref, { usage, shownTokens }) {
      addTokens.run(usage.inputTokens, usage.outputTokens, shownTokens, ref);
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

/** Returns when a lease granted now expires, in milliseconds since the epoch. */
function leaseEnd(lease: Lease): number {
  return Date.now() + lease.milliseconds;
}
