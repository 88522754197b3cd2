import { PLACEHOLDER_TITLE } from '../../../../core/model/session.js';
import {
  WALLET_BOUNDS,
  type WalletPayload,
  type WalletRequest,
} from '../../../../core/model/wallet-request.js';
import { SETTLED_ANOTHER, type AskedWallet, type WalletStore } from '../../../../core/ports/wallet-store.js';
import type { Bindable, Run, Statement } from '../connections.js';
import { toClaimedTurn, toSession, toTurn, type SessionRow, type TurnRow } from '../rows.js';
import { callOf, resultOf } from '../functions.js';

/** A row of `wallet_requests`, in a result or as JSON. */
interface RequestRow {
  readonly id: number;
  readonly call_id: string;
  readonly app: string;
  readonly wallet: string;
  readonly chain_id: number;
  readonly label: string;
  readonly payload: WalletPayload;
  readonly sound: boolean;
  readonly state: WalletRequest['state'];
  readonly staged_at: number;
  readonly requested_at: number | null;
  readonly expires_at: number;
  readonly claim: WalletRequest['claim'];
  readonly verification: WalletRequest['verification'];
  readonly turn_id: string | null;
}

type Staged =
  | { readonly kind: 'staged' | 'exists'; readonly request: RequestRow }
  | { readonly kind: 'full' | 'missing' };

type Asked =
  | { readonly kind: 'requested'; readonly session: SessionRow; readonly requests: readonly RequestRow[] }
  | { readonly kind: 'unchanged'; readonly requests: readonly RequestRow[] }
  | Extract<AskedWallet, { kind: 'refused' | 'left' }>
  | { readonly kind: 'over_daily'; readonly chain_id: number; readonly used: string };

type Noted =
  | { readonly kind: 'full'; readonly bytes: number }
  | {
      readonly kind: 'noted';
      readonly created: boolean;
      readonly session: SessionRow;
      readonly turn: TurnRow;
    };

const STAGE = callOf('stage_wallet_request', 14);
const REQUEST = callOf('request_wallet_for', 11);
const LAST_CLIENT = `(SELECT t.client_id FROM turns t JOIN sessions s ON s.ref = t.session
  WHERE s.id = $1 AND s.deleted_at IS NULL AND t.client_id IS NOT NULL ORDER BY t.no DESC LIMIT 1)`;
const REPORT: Statement = {
  name: 'report_wallet_outcome',
  text: `SELECT report_wallet_outcome(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, ${LAST_CLIENT}), $11, $12, $13) AS result`,
};
const VERIFY = callOf('verify_wallet_request', 7);
const EXPIRE = callOf('expire_wallet_requests', 2);
const ADD_NOTE = callOf('add_note', 8);

const COLUMNS =
  'r.id, r.call_id, r.app, r.wallet, r.chain_id, r.label, r.payload, r.sound, r.state, r.staged_at, r.requested_at, ' +
  'r.expires_at, r.claim, r.verification, r.turn_id';
const LIVE = '(SELECT ref FROM sessions WHERE id = $1 AND deleted_at IS NULL)';
const READ_OF_TURN: Statement = {
  name: 'wallet_requests_of_turn',
  text: `SELECT ${COLUMNS} FROM wallet_requests r WHERE r.session = ${LIVE} AND r.turn_id = $2 ORDER BY r.id`,
};
const READ_BY_IDS: Statement = {
  name: 'wallet_requests_by_ids',
  text: `SELECT ${COLUMNS} FROM wallet_requests r WHERE r.session = ${LIVE} AND r.id = ANY ($2::bigint[]) ORDER BY r.id`,
};
const READ_LAST: Statement = {
  name: 'last_wallet_requests',
  text: `SELECT ${COLUMNS} FROM wallet_requests r
    WHERE r.session = ${LIVE} AND ($3::text[] IS NULL OR r.state = ANY ($3)) ORDER BY r.id DESC LIMIT $2`,
};
const VALUE_SINCE: Statement = {
  name: 'wallet_value_since',
  text: 'SELECT wallet_value_since($1, $2, $3, $4)::text AS result',
};
const SETTLED_BY: Statement = {
  name: 'wallet_request_settled_by',
  text: `SELECT s.id AS "sessionId", r.id FROM wallet_requests r JOIN sessions s ON s.ref = r.session
    WHERE r.chain_id = $1 AND r.proof = $2 AND r.state = 'confirmed'
    UNION ALL SELECT of_session, id FROM past_transactions WHERE chain_id = $1 AND proof = $2 LIMIT 1`,
};

/** Wallet requests, and notes. Each write is a single statement. */
export function createWallet(run: Run): WalletStore {
  const call = <R>(statement: Statement, values: readonly Bindable[]): Promise<R> =>
    resultOf(run, statement, values);

  function read(sessionId: string, which: Parameters<WalletStore['readWalletRequests']>[1]) {
    if ('turnId' in which) return run<RequestRow>(READ_OF_TURN, [sessionId, which.turnId]);
    if ('ids' in which) return run<RequestRow>(READ_BY_IDS, [sessionId, which.ids.map(String)]);
    const values = [sessionId, Math.max(0, which.limit), which.states ?? null];
    return run<RequestRow>(READ_LAST, values).then((rows) => rows.reverse());
  }

  return {
    async stageWalletRequest({ sessionId, payload, ...request }) {
      const { callId, app, wallet, chainId, label, isSound, stagedAt, expiresAt } = request;
      const value = payload.kind === 'transaction' ? payload.value : '0';
      const staged = await call<Staged>(STAGE, [
        ...[sessionId, callId, app, wallet, chainId, label, payload.kind, JSON.stringify(payload), value],
        ...[isSound, stagedAt, expiresAt, WALLET_BOUNDS.open, WALLET_BOUNDS.payloadBytes],
      ]);
      if (!('request' in staged)) return staged;
      return { kind: staged.kind, request: toRequest(staged.request, sessionId) };
    },

    async requestWallet({ sessionId, ids, event, daily, expiresAt, by, at }) {
      const asked = await call<Asked>(REQUEST, [
        ...[sessionId, distinct(ids), event, daily?.since ?? null],
        ...[daily === null ? null : JSON.stringify(daily.most), expiresAt, at, WALLET_BOUNDS.pendingBytes],
        ...[by?.id ?? null, by?.owner ?? null, by?.attempt ?? null],
      ]);
      if (asked.kind === 'refused' || asked.kind === 'left') return asked;
      if (asked.kind === 'over_daily') {
        return { kind: 'over_daily', chainId: asked.chain_id, used: asked.used };
      }
      const requests = asked.requests.map((row) => toRequest(row, sessionId));
      if (asked.kind === 'unchanged') return { kind: 'unchanged', requests };
      const session = toSession(asked.session);
      const commit = { revision: session.revision, events: [] };
      return { kind: 'requested', requests, session, commit };
    },

    async reportWalletOutcome(report) {
      const { sessionId, state, claim, turnId, messageId, text, app, clientId, claimTurn, at } = report;
      const accepted = await call<{ readonly session: SessionRow; readonly turn: TurnRow } | null>(REPORT, [
        ...[sessionId, distinct(report.ids), state, JSON.stringify(claim), claim.proof],
        ...[turnId, messageId, text, app, clientId],
        ...[claimTurn?.owner ?? null, claimTurn?.milliseconds ?? null, at],
      ]);
      if (accepted === null) return { kind: 'stale' };
      const session = toSession(accepted.session);
      const turn = toTurn(accepted.turn, sessionId);
      return {
        kind: 'accepted',
        session,
        turn,
        message: {
          id: messageId,
          turnId,
          turnNo: turn.no,
          position: 0,
          role: 'system',
          origin: 'wallet',
          content: text,
          toolCalls: null,
          toolResults: null,
          createdAt: at,
        },
        claimed:
          turn.status === 'running' && claimTurn !== null
            ? toClaimedTurn(accepted.turn, sessionId, claimTurn.owner)
            : null,
        commit: { revision: session.revision, events: [] },
      };
    },

    async verifyWalletRequest(sessionId, id, turnId, verification) {
      const taken = { ...verification, ...SETTLED_ANOTHER };
      const row = await call<RequestRow | null>(VERIFY, [
        ...[sessionId, id, turnId, verification.verdict, JSON.stringify(verification)],
        ...[taken.verdict, JSON.stringify(taken)],
      ]);
      return row === null ? undefined : toRequest(row, sessionId);
    },

    async readWalletRequests(sessionId, which) {
      return (await read(sessionId, which)).map((row) => toRequest(row, sessionId));
    },

    walletValueSince: ({ app, wallet, chainId, since }) => call(VALUE_SINCE, [app, wallet, chainId, since]),

    async findSettledBy(chainId, hash) {
      const [row] = await run<Pick<WalletRequest, 'sessionId' | 'id'>>(SETTLED_BY, [chainId, hash]);
      return row;
    },

    async expireWalletRequests(now, limit) {
      const rows = await run<{ result: { session_id: string; revision: number | null } }>(EXPIRE, [
        now,
        limit,
      ]);
      return rows.map(({ result: { session_id: sessionId, revision } }) => ({
        sessionId,
        commit: revision === null ? null : { revision, events: [] },
      }));
    },

    async addNote({ sessionId, turnId, messageId, text, app, maxSessionBytes, at }) {
      const noted = await call<Noted>(ADD_NOTE, [
        ...[sessionId, PLACEHOLDER_TITLE, turnId, messageId, text, app, maxSessionBytes, at],
      ]);
      if (noted.kind === 'full') return noted;
      const session = toSession(noted.session);
      const turn = toTurn(noted.turn, sessionId);
      return {
        kind: 'noted',
        session,
        created: noted.created,
        turn,
        message: {
          id: messageId,
          turnId,
          turnNo: turn.no,
          position: 0,
          role: 'system',
          content: text,
          toolCalls: null,
          toolResults: null,
          createdAt: at,
        },
        commit: { revision: session.revision, events: [] },
      };
    },
  };
}

/** Returns ids without repetitions, as a parameter. */
function distinct(ids: readonly number[]): readonly string[] {
  return [...new Set(ids)].map(String);
}

function toRequest(row: RequestRow, sessionId: string): WalletRequest {
  return {
    id: row.id,
    sessionId,
    callId: row.call_id,
    app: row.app,
    wallet: row.wallet,
    chainId: row.chain_id,
    label: row.label,
    payload: row.payload,
    isSound: row.sound,
    state: row.state,
    stagedAt: row.staged_at,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    claim: row.claim,
    verification: row.verification,
    turnId: row.turn_id,
  };
}
