import type { Database } from 'better-sqlite3';
import type {
  PendingRequest,
  WalletPayload,
  WalletRequest,
  WalletRequestState,
} from '../../../../core/model/wallet-request.js';
import type { WalletStore } from '../../../../core/ports/wallet-store.js';
import { LIMIT } from '../reads/limit.js';
import { parseClaim, parsePayload, parseVerification } from './json-columns.js';

/** A row of `wallet_requests`. Write steps change it in memory, then save it with `WalletTable`. */
export interface WalletRow {
  readonly session: number;
  readonly id: number;
  readonly call_id: string;
  readonly app: string;
  readonly wallet: string;
  readonly chain_id: number;
  readonly label: string;
  readonly kind: WalletPayload['kind'];
  readonly payload: string;
  readonly value: string;
  readonly sound: number;
  readonly staged_at: number;
  state: WalletRequestState;
  requested_at: number | null;
  expires_at: number;
  claim: string | null;
  proof: string | null;
  verification: string | null;
  turn_id: string | null;
}

/** What a wallet was asked for: the parameter of `walletValueSince`. */
export type WalletUse = Parameters<WalletStore['walletValueSince']>[0];

/** Reads and writes `wallet_requests`. */
export interface WalletTable {
  find(session: number, id: number): WalletRow | undefined;
  findByCall(session: number, callId: string): WalletRow | undefined;
  /** Counts the staged and pending requests of a session. */
  countOpen(session: number): number;
  /** Returns the pending requests of a session, in order of their ids. */
  findPending(session: number): WalletRow[];
  /** Returns open requests whose time is over, with the id of their session. */
  findOverdue(now: number, limit: number): (WalletRow & { readonly session_id: string })[];
  /** Sums what a wallet was asked for, in wei. */
  valueSince(use: WalletUse): bigint;
  /** Returns true when a request with this hash was confirmed. */
  hasConfirmed(chainId: number, hash: string): boolean;
  insert(row: WalletRow): void;
  /** Saves the columns that change. */
  save(row: WalletRow): void;
}

/** The states `staged` and `pending`, in the words of the partial indexes. */
export const IS_OPEN = "state IN ('staged', 'pending')";

/** Selects the values that a wallet was asked for. Parameters: `WalletUse`. */
const VALUES = `SELECT value FROM wallet_requests
  WHERE app = @app AND wallet = @wallet AND chain_id = @chainId AND requested_at >= @since AND state <> 'rejected'
  UNION ALL SELECT value FROM past_transactions
  WHERE app = @app AND wallet = @wallet AND chain_id = @chainId AND requested_at >= @since`;

/** Selects the request that a transaction has confirmed. */
export const CONFIRMED_BY = `SELECT s.id AS sessionId, r.id FROM wallet_requests r JOIN sessions s ON s.ref = r.session
  WHERE r.chain_id = @chainId AND r.proof = @hash AND r.state = 'confirmed'
  UNION ALL SELECT of_session, id FROM past_transactions WHERE chain_id = @chainId AND proof = @hash LIMIT 1`;

/** Selects one overdue request, to check whether there is any. Parameter: now. */
export const OVERDUE = `SELECT r.*, s.id AS session_id
  FROM wallet_requests r INDEXED BY open_wallet_requests JOIN sessions s ON s.ref = r.session
  WHERE r.${IS_OPEN} AND r.expires_at <= ? ORDER BY r.expires_at ${LIMIT}`;

export function createWalletTable(db: Database): WalletTable {
  const select = db.prepare<[session: number, id: number], WalletRow>(
    'SELECT * FROM wallet_requests WHERE session = ? AND id = ?',
  );
  const selectByCall = db.prepare<[session: number, callId: string], WalletRow>(
    'SELECT * FROM wallet_requests WHERE session = ? AND call_id = ?',
  );
  const countOpen = db
    .prepare<[session: number], number>(
      `SELECT count(*) FROM wallet_requests WHERE session = ? AND ${IS_OPEN}`,
    )
    .pluck();
  const selectPending = db.prepare<[session: number], WalletRow>(
    `SELECT * FROM wallet_requests WHERE session = ? AND ${IS_OPEN} AND state = 'pending' ORDER BY id`,
  );
  const selectOverdue = db.prepare<[now: number, limit: number], WalletRow & { readonly session_id: string }>(
    OVERDUE,
  );
  const sum = createValueSum(db);
  const selectConfirmed = db.prepare<[{ chainId: number; hash: string }]>(CONFIRMED_BY);
  const insert = db.prepare<[WalletRow]>(
    `INSERT INTO wallet_requests (session, id, call_id, app, wallet, chain_id, label, kind, payload, value, sound, state,
       staged_at, requested_at, expires_at, claim, proof, verification, turn_id)
     VALUES (@session, @id, @call_id, @app, @wallet, @chain_id, @label, @kind, @payload, @value, @sound, @state,
       @staged_at, @requested_at, @expires_at, @claim, @proof, @verification, @turn_id)`,
  );
  const update = db.prepare<[WalletRow]>(
    `UPDATE wallet_requests SET state = @state, requested_at = @requested_at, expires_at = @expires_at, claim = @claim,
       proof = @proof, verification = @verification, turn_id = @turn_id
     WHERE session = @session AND id = @id`,
  );
  return {
    find: (session, id) => select.get(session, id),
    findByCall: (session, callId) => selectByCall.get(session, callId),
    countOpen: (session) => countOpen.get(session) ?? 0,
    findPending: (session) => selectPending.all(session),
    findOverdue: (now, limit) => selectOverdue.all(now, limit),
    valueSince: sum,
    hasConfirmed: (chainId, hash) => selectConfirmed.get({ chainId, hash }) !== undefined,
    insert(row) {
      insert.run(row);
    },
    save(row) {
      update.run(row);
    },
  };
}

/** Creates the sum of what a wallet was asked for. SQLite has no integers of that size. */
export function createValueSum(db: Database): (use: WalletUse) => bigint {
  const select = db.prepare<[WalletUse], string>(VALUES).pluck();
  return (use) => select.all(use).reduce((total, value) => total + BigInt(value), 0n);
}

/** @throws StoreUnavailableError when the file is damaged */
export function toRequest(row: WalletRow, sessionId: string): WalletRequest {
  return {
    id: row.id,
    sessionId,
    callId: row.call_id,
    app: row.app,
    wallet: row.wallet,
    chainId: row.chain_id,
    label: row.label,
    payload: parsePayload(row.payload),
    isSound: row.sound === 1,
    state: row.state,
    stagedAt: row.staged_at,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    claim: row.claim === null ? null : parseClaim(row.claim),
    verification: row.verification === null ? null : parseVerification(row.verification),
    turnId: row.turn_id,
  };
}

/** Converts the pending rows of a session to its column `pending`. */
export function toPending(rows: readonly WalletRow[]): string | null {
  if (rows.length === 0) return null;
  const pending = rows.map(({ id, app, wallet, chain_id, label, payload, expires_at }): PendingRequest => ({
    id,
    app,
    wallet,
    chainId: chain_id,
    label,
    payload: parsePayload(payload),
    expiresAt: expires_at,
  }));
  return JSON.stringify(pending);
}
