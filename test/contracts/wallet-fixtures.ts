import { randomUUID } from 'node:crypto';
import type {
  TransactionPayload,
  WalletClaim,
  WalletRequest,
  WalletVerification,
} from '../../src/core/model/wallet-request.js';
import type { Store } from '../../src/core/ports/store.js';
import type {
  AskedWallet,
  NewWalletRequest,
  ReportedOutcome,
  WalletAsk,
  WalletReport,
} from '../../src/core/ports/wallet-store.js';
import { change, T0 } from './store-fixtures.js';

export const WALLET = '0x00000000000000000000000000000000000000aa';
export const DAY = 86_400_000;
const RECEIVER = '0x00000000000000000000000000000000000000bb';

export function transfer(value = '1', over: Partial<TransactionPayload> = {}): TransactionPayload {
  return { kind: 'transaction', to: RECEIVER, value, data: '0x', gas: '21000', nonce: 0, after: [], ...over };
}

export function hashOf(n: number): string {
  return `0x${n.toString(16).padStart(64, '0')}`;
}

export function claimOf(proof: string | null, over: Partial<WalletClaim> = {}): WalletClaim {
  return { status: 'success', proof, error: null, ...over };
}

export function verdict(over: Partial<WalletVerification> = {}): WalletVerification {
  return { verdict: 'confirmed', detail: 'in block 1', at: T0 + 9, ...over };
}

export function newRequest(sessionId: string, over: Partial<NewWalletRequest> = {}): NewWalletRequest {
  return {
    sessionId,
    callId: randomUUID(),
    app: 'default',
    wallet: WALLET,
    chainId: 1,
    label: 'send “1” wei 🦑',
    payload: transfer(),
    isSound: true,
    stagedAt: T0,
    expiresAt: T0 + DAY,
    ...over,
  };
}

/** Creates a session. Returns its id. */
export async function newThread(store: Store): Promise<string> {
  const id = randomUUID();
  await store.saveSession(change(id));
  return id;
}

/** Stages a request that must not be refused. */
export async function stage(
  store: Store,
  sessionId: string,
  over: Partial<NewWalletRequest> = {},
): Promise<WalletRequest> {
  const staged = await store.stageWalletRequest(newRequest(sessionId, over));
  if (staged.kind !== 'staged') throw new Error(`the request was not staged: ${staged.kind}`);
  return staged.request;
}

export function askFor(sessionId: string, ids: readonly number[], over: Partial<WalletAsk> = {}): WalletAsk {
  return {
    sessionId,
    ids,
    event: inlineCall(ids),
    daily: null,
    expiresAt: T0 + 2 * DAY,
    by: null,
    at: T0 + 1,
    ...over,
  };
}

export function inlineCall(ids: readonly number[]): string {
  return JSON.stringify({ type: 'wallet_tx_request', payload: { tx_ids: ids, aa_preference: 'none' } });
}

/** Requests what was staged; it must not be refused. */
export async function request(
  store: Store,
  sessionId: string,
  ids: readonly number[],
  over: Partial<WalletAsk> = {},
): Promise<Extract<AskedWallet, { kind: 'requested' }>> {
  const asked = await store.requestWallet(askFor(sessionId, ids, over));
  if (asked.kind !== 'requested') throw new Error(`the wallet was not asked: ${JSON.stringify(asked)}`);
  return asked;
}

/** Stages and requests in one go. Returns the pending requests. */
export async function pend(
  store: Store,
  sessionId: string,
  ...requests: readonly Partial<NewWalletRequest>[]
): Promise<readonly WalletRequest[]> {
  const ids: number[] = [];
  for (const over of requests) ids.push((await stage(store, sessionId, over)).id);
  return (await request(store, sessionId, ids)).requests;
}

export function reportOf(
  sessionId: string,
  ids: readonly number[],
  over: Partial<WalletReport> = {},
): WalletReport {
  return {
    sessionId,
    ids,
    state: 'reported',
    claim: claimOf(hashOf(1)),
    turnId: randomUUID(),
    messageId: randomUUID(),
    text: 'The wallet reported success 🦑; not verified yet.',
    app: 'default',
    clientId: null,
    claimTurn: null,
    at: T0 + 2,
    ...over,
  };
}

/** Reports an outcome that must be accepted. */
export async function report(
  store: Store,
  sessionId: string,
  ids: readonly number[],
  over: Partial<WalletReport> = {},
): Promise<Extract<ReportedOutcome, { kind: 'accepted' }>> {
  const reported = await store.reportWalletOutcome(reportOf(sessionId, ids, over));
  if (reported.kind !== 'accepted') throw new Error('the report was stale');
  return reported;
}

/** Brings a request to `reported`. Returns the turn in which the assistant learns it. */
export async function reported(
  store: Store,
  sessionId: string,
  proof: string,
  over: Partial<NewWalletRequest> = {},
): Promise<{ readonly id: number; readonly turnId: string }> {
  const [pending] = await pend(store, sessionId, over);
  const id = pending?.id ?? 0;
  const { turn } = await report(store, sessionId, [id], { claim: claimOf(proof) });
  return { id, turnId: turn.id };
}

/** The states of the requests of a session, in order of their ids. */
export async function states(store: Store, sessionId: string): Promise<string[]> {
  return (await store.readWalletRequests(sessionId, { limit: 100 })).map(({ state }) => state);
}

/** The ids that a session shows as pending. */
export async function pendingIds(store: Store, sessionId: string): Promise<number[]> {
  const thread = await store.loadThread(sessionId);
  if (typeof thread === 'string') throw new Error(`the session is ${thread}`);
  return thread.session.pending.map(({ id }) => id);
}
