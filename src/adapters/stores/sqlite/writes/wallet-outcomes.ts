import type { WalletVerification } from '../../../../core/model/wallet-request.js';
import { SETTLED_ANOTHER } from '../../../../core/ports/wallet-store.js';
import { toSession } from '../rows/session-row.js';
import { toPending, toRequest, type WalletRow, type WalletTable } from '../rows/wallet-table.js';
import type { ExpiredRequests, Handlers } from '../steps.js';
import type { Tables } from './accept-message.js';
import { countTurn, insertTurn } from './new-turn.js';

/** The write steps that bring wallet requests to an end. */
export function createOutcomeWrites({
  sessions,
  turns,
  events,
  requests,
}: Pick<Tables, 'sessions' | 'turns' | 'events'> & { readonly requests: WalletTable }): Pick<
  Handlers,
  'reportWalletOutcome' | 'verifyWalletRequest' | 'expireWalletRequests'
> {
  /** True when the transaction has confirmed another request. */
  function isTaken({ kind, chain_id, proof }: WalletRow, { verdict }: WalletVerification): boolean {
    if (verdict !== 'confirmed' || kind !== 'transaction' || proof === null) return false;
    return requests.hasConfirmed(chain_id, proof);
  }

  function expire(sessionId: string, rows: readonly WalletRow[], now: number): ExpiredRequests {
    const session = sessions.findLive(sessionId);
    if (session === undefined) return [];
    const isShown = rows.some(({ state }) => state === 'pending');
    for (const row of rows) {
      row.state = 'expired';
      requests.save(row);
    }
    if (!isShown) return [{ sessionId, commit: null }];
    session.pending = toPending(requests.findPending(session.ref));
    const commit = events.commit(session, [], now);
    sessions.save(session);
    return [{ sessionId, commit }];
  }

  return {
    reportWalletOutcome(report) {
      const { turnId, messageId, app, claim, claimTurn, text, at } = report;
      const session = sessions.findLive(report.sessionId);
      if (session === undefined || report.ids.length === 0) return { kind: 'stale' };
      const rows = report.ids.flatMap((id) => requests.find(session.ref, id) ?? []);
      const isPending = rows.every(({ state }) => state === 'pending');
      if (!isPending || rows.length < report.ids.length) return { kind: 'stale' };

      for (const row of rows) {
        row.state = report.state;
        row.claim = JSON.stringify(claim);
        row.proof = claim.proof;
        row.turn_id = turnId;
        requests.save(row);
      }
      const open = turns.countOpen(session.ref);
      session.pending = toPending(requests.findPending(session.ref));
      session.interrupted = 0;
      countTurn(session, Buffer.byteLength(text), at);
      const commit = events.commit(session, [], at);
      sessions.save(session);
      const clientId = report.clientId ?? turns.findLastClient(session.ref);
      const keyId = turns.findLastKey(session.ref, app);
      const isNext = !open.isRunning && open.queued === 0;
      const added = insertTurn(
        turns,
        session,
        { id: turnId, app, clientId, keyId, createdAt: at },
        {
          first: { id: messageId, role: 'system', origin: 'wallet', content: text },
          lease: isNext ? claimTurn : null,
        },
      );
      return { kind: 'accepted', session: toSession(session), ...added, commit };
    },

    verifyWalletRequest(sessionId, id, turnId, verification) {
      const session = sessions.findLive(sessionId);
      const row = session && requests.find(session.ref, id);
      if (row?.turn_id !== turnId) return undefined;
      const isDefinite = verification.verdict !== 'not_found';
      if (row.state === 'reported' || (row.state === 'not_found' && isDefinite)) {
        const held = isTaken(row, verification) ? { ...verification, ...SETTLED_ANOTHER } : verification;
        row.state = held.verdict;
        row.verification = JSON.stringify(held);
        requests.save(row);
      }
      return toRequest(row, sessionId);
    },

    expireWalletRequests(now, limit) {
      const rows = requests.findOverdue(now, limit);
      return [...new Set(rows.map((row) => row.session_id))].flatMap((sessionId) =>
        expire(
          sessionId,
          rows.filter((row) => row.session_id === sessionId),
          now,
        ),
      );
    },
  };
}
