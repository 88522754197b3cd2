import { WALLET_BOUNDS } from '../../../../core/model/wallet-request.js';
import type { AskedWallet, NewWalletRequest, WalletAsk } from '../../../../core/ports/wallet-store.js';
import type { EventTable } from '../rows/event-table.js';
import { toSession } from '../rows/session-row.js';
import type { SessionTable } from '../rows/session-table.js';
import type { TurnTable } from '../rows/turn-table.js';
import { toPending, toRequest, type WalletRow, type WalletTable } from '../rows/wallet-table.js';
import type { Handlers } from '../steps.js';

type Refusal = Extract<AskedWallet, { kind: 'refused' | 'over_daily' }>;

/** The write steps that stage and request what a wallet signs. */
export function createWalletWrites({
  sessions,
  turns,
  events,
  requests,
}: {
  readonly sessions: SessionTable;
  readonly turns: TurnTable;
  readonly events: EventTable;
  readonly requests: WalletTable;
}): Pick<Handlers, 'stageWalletRequest' | 'requestWallet'> {
  function refuseSize(session: number, asked: readonly WalletRow[]): Refusal | undefined {
    let bytes = requests.findPending(session).reduce((sum, row) => sum + Buffer.byteLength(row.payload), 0);
    for (const row of asked) {
      bytes += Buffer.byteLength(row.payload);
      if (bytes > WALLET_BOUNDS.pendingBytes) return { kind: 'refused', id: row.id, reason: 'full' };
    }
    return undefined;
  }

  function refuseValue(asked: readonly WalletRow[], { daily }: WalletAsk): Refusal | undefined {
    for (const { app, wallet, chain_id: chainId } of asked) {
      const most = daily?.most[String(chainId)];
      if (daily === null || most === undefined) continue;
      const more = asked
        .filter((row) => row.app === app && row.wallet === wallet && row.chain_id === chainId)
        .reduce((sum, row) => sum + BigInt(row.value), 0n);
      const used = requests.valueSince({ app, wallet, chainId, since: daily.since });
      if (more > 0n && used + more > BigInt(most)) return { kind: 'over_daily', chainId, used: String(used) };
    }
    return undefined;
  }

  return {
    stageWalletRequest(request) {
      const session = sessions.findLive(request.sessionId);
      if (session === undefined) return { kind: 'missing' };
      const there = requests.findByCall(session.ref, request.callId);
      if (there !== undefined) return { kind: 'exists', request: toRequest(there, session.id) };
      const row = newRow(session.ref, session.last_wallet_no + 1, request);
      const isTooLarge = Buffer.byteLength(row.payload) > WALLET_BOUNDS.payloadBytes;
      if (isTooLarge || requests.countOpen(session.ref) >= WALLET_BOUNDS.open) return { kind: 'full' };
      session.last_wallet_no = row.id;
      sessions.save(session);
      requests.insert(row);
      return { kind: 'staged', request: toRequest(row, session.id) };
    },

    requestWallet(ask) {
      if (ask.by !== null && turns.findOwned(ask.by)?.cancel_requested !== 0) return { kind: 'left' };
      const session = sessions.findLive(ask.sessionId);
      const asked: WalletRow[] = [];
      for (const id of new Set(ask.ids)) {
        const row = session && requests.find(session.ref, id);
        if (row === undefined) return { kind: 'refused', id, reason: 'unknown' };
        const reason = refusalOf(row, ask.at);
        if (reason !== undefined) return { kind: 'refused', id, reason };
        asked.push(row);
      }
      const waiting = asked.filter(({ state }) => state === 'pending');
      if (session === undefined || waiting.length === asked.length) {
        return { kind: 'unchanged', requests: asked.map((row) => toRequest(row, ask.sessionId)) };
      }
      const [first] = waiting;
      if (first !== undefined) return { kind: 'refused', id: first.id, reason: 'pending' };
      const refusal = refuseSize(session.ref, asked) ?? refuseValue(asked, ask);
      if (refusal !== undefined) return refusal;

      for (const row of asked) {
        row.state = 'pending';
        row.requested_at = ask.at;
        row.expires_at = ask.expiresAt;
        requests.save(row);
      }
      session.pending = toPending(requests.findPending(session.ref));
      events.addSystemEvent(session, 'InlineCall', ask.event, ask.at);
      const commit = events.commit(session, [], ask.at);
      sessions.save(session);
      const pending = asked.map((row) => toRequest(row, session.id));
      return { kind: 'requested', requests: pending, session: toSession(session), commit };
    },
  };
}

/** Returns why a request cannot be pending. */
function refusalOf({ state, expires_at, sound }: WalletRow, at: number) {
  if (state === 'expired') return 'expired';
  if (state !== 'staged' && state !== 'pending') return 'settled';
  if (expires_at <= at) return 'expired';
  return sound === 1 ? undefined : 'unsound';
}

function newRow(session: number, id: number, request: NewWalletRequest): WalletRow {
  const { callId, app, wallet, chainId, label, payload, isSound, stagedAt, expiresAt } = request;
  return {
    session,
    id,
    call_id: callId,
    app,
    wallet,
    chain_id: chainId,
    label,
    kind: payload.kind,
    payload: JSON.stringify(payload),
    value: payload.kind === 'transaction' ? payload.value : '0',
    sound: isSound ? 1 : 0,
    state: 'staged',
    staged_at: stagedAt,
    requested_at: null,
    expires_at: expiresAt,
    claim: null,
    proof: null,
    verification: null,
    turn_id: null,
  };
}
