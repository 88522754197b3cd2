import { NOTHING_PENDING } from '../../../src/core/model/session.js';
import {
  WALLET_BOUNDS,
  type PendingRequest,
  type WalletRequest,
  type WalletVerification,
} from '../../../src/core/model/wallet-request.js';
import {
  SETTLED_ANOTHER,
  type AskedWallet,
  type NewWalletRequest,
  type ReportedOutcome,
  type StagedRequest,
  type WalletAsk,
  type WalletReport,
  type WalletStore,
} from '../../../src/core/ports/wallet-store.js';
import { addSystemEvent, commit, findLive, type KeptSession, type State } from './state.js';
import { addTurn, claimIfNext, findOwned, findTurn, firstOf } from './turns.js';

type Refusal = Extract<AskedWallet, { kind: 'refused' | 'over_daily' }>;

/** See `WalletStore`. */
export function stageWalletRequest(state: State, request: NewWalletRequest): StagedRequest {
  const kept = findLive(state, request.sessionId);
  if (kept === undefined) return { kind: 'missing' };
  const there = kept.requests.find(({ callId }) => callId === request.callId);
  if (there !== undefined) return { kind: 'exists', request: there };
  const isTooLarge = payloadBytes(request) > WALLET_BOUNDS.payloadBytes;
  if (isTooLarge || kept.requests.filter(isOpen).length >= WALLET_BOUNDS.open) return { kind: 'full' };
  kept.lastWalletNo += 1;
  const staged: WalletRequest = {
    ...request,
    id: kept.lastWalletNo,
    state: 'staged',
    requestedAt: null,
    claim: null,
    verification: null,
    turnId: null,
  };
  kept.requests.push(staged);
  return { kind: 'staged', request: staged };
}

/** See `WalletStore`. */
export function requestWallet(state: State, ask: WalletAsk): AskedWallet {
  const asking = ask.by === null ? undefined : findOwned(state, ask.by)?.found;
  if (ask.by !== null && asking?.cancelRequested !== false) return { kind: 'left' };
  const kept = findLive(state, ask.sessionId);
  const ids = [...new Set(ask.ids)];
  const asked: WalletRequest[] = [];
  for (const id of ids) {
    const request = kept?.requests.find((one) => one.id === id);
    if (request === undefined) return { kind: 'refused', id, reason: 'unknown' };
    const reason = refusalOf(request, ask.at);
    if (reason !== undefined) return { kind: 'refused', id, reason };
    asked.push(request);
  }
  const waiting = asked.find(isPending);
  if (kept === undefined || asked.every(isPending)) return { kind: 'unchanged', requests: asked };
  if (waiting !== undefined) return { kind: 'refused', id: waiting.id, reason: 'pending' };
  const refusal = refuseSize(kept, asked) ?? refuseValue(state, asked, ask);
  if (refusal !== undefined) return refusal;

  const { at, expiresAt } = ask;
  const requests = asked.map((request) =>
    put(kept, { ...request, state: 'pending', requestedAt: at, expiresAt }),
  );
  showPending(kept);
  addSystemEvent(kept, 'InlineCall', ask.event, at);
  const committed = commit(kept, [], at);
  return { kind: 'requested', requests, session: kept.session, commit: committed };
}

function refusalOf({ state, expiresAt, isSound }: WalletRequest, at: number) {
  if (state === 'expired') return 'expired';
  if (state !== 'staged' && state !== 'pending') return 'settled';
  if (expiresAt <= at) return 'expired';
  return isSound ? undefined : 'unsound';
}

function refuseSize(kept: KeptSession, asked: readonly WalletRequest[]): Refusal | undefined {
  let bytes = kept.requests.filter(isPending).reduce((sum, one) => sum + payloadBytes(one), 0);
  for (const request of asked) {
    bytes += payloadBytes(request);
    if (bytes > WALLET_BOUNDS.pendingBytes) return { kind: 'refused', id: request.id, reason: 'full' };
  }
  return undefined;
}

function refuseValue(
  state: State,
  asked: readonly WalletRequest[],
  { daily }: WalletAsk,
): Refusal | undefined {
  for (const { app, wallet, chainId } of asked) {
    const most = daily?.most[String(chainId)];
    if (daily === null || most === undefined) continue;
    const more = asked
      .filter((one) => one.app === app && one.wallet === wallet && one.chainId === chainId)
      .reduce((sum, one) => sum + valueOf(one), 0n);
    const used = walletValueSince(state, { app, wallet, chainId, since: daily.since });
    if (more > 0n && BigInt(used) + more > BigInt(most)) return { kind: 'over_daily', chainId, used };
  }
  return undefined;
}

/** See `WalletStore`. */
export function reportWalletOutcome(state: State, report: WalletReport): ReportedOutcome {
  const kept = findLive(state, report.sessionId);
  if (kept === undefined || report.ids.length === 0) return { kind: 'stale' };
  const pending = new Map(kept.requests.filter(isPending).map((request) => [request.id, request]));
  if (report.ids.some((id) => !pending.has(id))) return { kind: 'stale' };
  const { turnId, messageId, app, claim, text, at } = report;
  if (findTurn(state, turnId) !== undefined) throw new Error(`there is a turn ${turnId} already`);

  for (const id of report.ids) {
    const request = pending.get(id);
    if (request !== undefined) put(kept, { ...request, state: report.state, claim, turnId });
  }
  showPending(kept);
  kept.session = {
    ...kept.session,
    interrupted: false,
    activeAt: Math.max(kept.session.activeAt, at),
  };
  const lastClient = kept.turns.findLast(({ turn }) => turn.clientId !== null)?.turn.clientId ?? null;
  const lastOfKey = kept.turns.findLast(({ turn }) => turn.app === app && turn.keyId !== null);
  const added = addTurn(
    kept,
    {
      id: turnId,
      app,
      clientId: report.clientId ?? lastClient,
      keyId: lastOfKey?.turn.keyId ?? null,
      status: 'queued',
      createdAt: at,
    },
    { id: messageId, role: 'system', origin: 'wallet', content: text },
  );
  const claimed = claimIfNext(kept, added, report.claimTurn);
  const committed = commit(kept, [], at);
  const { turn } = added;
  return {
    kind: 'accepted',
    session: kept.session,
    turn,
    message: firstOf(added),
    claimed,
    commit: committed,
  };
}

/** See `WalletStore`. */
export function verifyWalletRequest(
  state: State,
  { sessionId, id, turnId }: { readonly sessionId: string; readonly id: number; readonly turnId: string },
  verification: WalletVerification,
): WalletRequest | undefined {
  const kept = findLive(state, sessionId);
  const request = kept?.requests.find((one) => one.id === id && one.turnId === turnId);
  const isDefinite = verification.verdict !== 'not_found';
  const isOpen = request?.state === 'reported' || (request?.state === 'not_found' && isDefinite);
  if (kept === undefined || !isOpen) return request;
  const held = isTaken(state, request, verification) ? { ...verification, ...SETTLED_ANOTHER } : verification;
  return put(kept, { ...request, state: held.verdict, verification: held });
}

/** True when the transaction has confirmed another request. */
function isTaken(
  state: State,
  { chainId, payload, claim }: WalletRequest,
  { verdict }: WalletVerification,
): boolean {
  if (verdict !== 'confirmed' || payload.kind !== 'transaction' || claim?.proof == null) return false;
  return findSettledBy(state, chainId, claim.proof) !== undefined;
}

/** See `WalletStore`. */
export function readWalletRequests(
  state: State,
  sessionId: string,
  which: Parameters<WalletStore['readWalletRequests']>[1],
): WalletRequest[] {
  const requests = findLive(state, sessionId)?.requests ?? [];
  if ('turnId' in which) return requests.filter(({ turnId }) => turnId === which.turnId);
  if ('ids' in which) return requests.filter(({ id }) => which.ids.includes(id));
  const { limit, states } = which;
  const fitting = requests.filter((request) => states?.includes(request.state) ?? true);
  return fitting.slice(Math.max(0, fitting.length - limit));
}

/** See `WalletStore`. */
export function walletValueSince(
  state: State,
  { app, wallet, chainId, since }: Parameters<WalletStore['walletValueSince']>[0],
): string {
  const counted = [...allRequests(state), ...state.pastTransactions].filter(
    (one) =>
      one.app === app &&
      one.wallet === wallet &&
      one.chainId === chainId &&
      one.state !== 'rejected' &&
      one.requestedAt !== null &&
      one.requestedAt >= since,
  );
  return String(counted.reduce((sum, one) => sum + valueOf(one), 0n));
}

/** See `WalletStore`. */
export function findSettledBy(
  state: State,
  chainId: number,
  hash: string,
): Pick<WalletRequest, 'sessionId' | 'id'> | undefined {
  const found = [...allRequests(state), ...state.pastTransactions].find(
    (one) => one.chainId === chainId && one.claim?.proof === hash && one.state === 'confirmed',
  );
  return found && { sessionId: found.sessionId, id: found.id };
}

/** See `WalletStore`. */
export function expireWalletRequests(
  state: State,
  now: number,
  limit: number,
): Awaited<ReturnType<WalletStore['expireWalletRequests']>> {
  const over = allRequests(state)
    .filter((request) => isOpen(request) && request.expiresAt <= now)
    .sort((a, b) => a.expiresAt - b.expiresAt)
    .slice(0, limit);
  return [...new Set(over.map(({ sessionId }) => sessionId))].flatMap((sessionId) => {
    const kept = findLive(state, sessionId);
    const requests = over.filter((request) => request.sessionId === sessionId);
    if (kept === undefined) return [];
    for (const request of requests) put(kept, { ...request, state: 'expired' });
    const isShown = requests.some(isPending);
    if (isShown) showPending(kept);
    return [{ sessionId, commit: isShown ? commit(kept, [], now) : null }];
  });
}

/** Puts a request in the place of the one with its id. */
function put(kept: KeptSession, request: WalletRequest): WalletRequest {
  kept.requests = kept.requests.map((one) => (one.id === request.id ? request : one));
  return request;
}

/** Makes the session show what is pending now. */
function showPending(kept: KeptSession): void {
  const pending = kept.requests
    .filter(isPending)
    .map(({ id, app, wallet, chainId, label, payload, expiresAt }): PendingRequest => ({
      id,
      app,
      wallet,
      chainId,
      label,
      payload,
      expiresAt,
    }));
  kept.session = { ...kept.session, pending: pending.length === 0 ? NOTHING_PENDING : pending };
}

function allRequests(state: State): WalletRequest[] {
  return [...state.sessions.values()].flatMap(({ requests }) => requests);
}

function isPending({ state }: WalletRequest): boolean {
  return state === 'pending';
}

function isOpen({ state }: WalletRequest): boolean {
  return state === 'staged' || state === 'pending';
}

function valueOf({ payload }: WalletRequest): bigint {
  return payload.kind === 'transaction' ? BigInt(payload.value) : 0n;
}

function payloadBytes({ payload }: Pick<WalletRequest, 'payload'>): number {
  return Buffer.byteLength(JSON.stringify(payload));
}
