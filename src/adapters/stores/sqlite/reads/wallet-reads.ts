import type { Database } from 'better-sqlite3';
import type { WalletRequest } from '../../../../core/model/wallet-request.js';
import type { WalletStore } from '../../../../core/ports/wallet-store.js';
import {
  CONFIRMED_BY,
  createValueSum,
  OVERDUE,
  toRequest,
  type WalletRow,
  type WalletUse,
} from '../rows/wallet-table.js';

type Which = Parameters<WalletStore['readWalletRequests']>[1];
type Last = Extract<Which, { limit: number }>;

/** The reads of wallet requests. */
export function createWalletReads(db: Database) {
  const selectSession = db
    .prepare<[string], number>('SELECT ref FROM sessions WHERE id = ? AND deleted_at IS NULL')
    .pluck();
  const selectOfTurn = db.prepare<[turnId: string, session: number], WalletRow>(
    `SELECT * FROM wallet_requests INDEXED BY wallet_requests_by_turn
     WHERE turn_id = ? AND session = ? ORDER BY id`,
  );
  const select = db.prepare<[session: number, id: number], WalletRow>(
    'SELECT * FROM wallet_requests WHERE session = ? AND id = ?',
  );
  const selectLast = db.prepare<[session: number], Pick<WalletRow, 'id' | 'state'>>(
    'SELECT id, state FROM wallet_requests WHERE session = ? ORDER BY id DESC',
  );
  const selectConfirmed = db.prepare<
    [{ chainId: number; hash: string }],
    Pick<WalletRequest, 'sessionId' | 'id'>
  >(CONFIRMED_BY);
  const selectOverdue = db.prepare<[now: number, limit: number]>(OVERDUE);
  const sum = createValueSum(db);

  function rowsOf(session: number, which: Which): WalletRow[] {
    if ('turnId' in which) return selectOfTurn.all(which.turnId, session);
    if ('ids' in which) {
      const ids = [...new Set(which.ids)].sort((a, b) => a - b);
      return ids.flatMap((id) => select.get(session, id) ?? []);
    }
    return lastIds(session, which).flatMap((id) => select.get(session, id) ?? []);
  }

  function lastIds(session: number, { limit, states }: Last): number[] {
    const last: number[] = [];
    if (limit <= 0) return last;
    for (const { id, state } of selectLast.iterate(session)) {
      if (states?.includes(state) ?? true) last.unshift(id);
      if (last.length >= limit) break;
    }
    return last;
  }

  return {
    readWalletRequests: db.transaction((sessionId: string, which: Which): WalletRequest[] => {
      const session = selectSession.get(sessionId);
      return session === undefined ? [] : rowsOf(session, which).map((row) => toRequest(row, sessionId));
    }),
    walletValueSince: (use: WalletUse): string => String(sum(use)),
    findSettledBy: (chainId: number, hash: string) => selectConfirmed.get({ chainId, hash }),
    /** True when an open request is past its time. */
    hasOverdueRequests: (now: number): boolean => selectOverdue.get(now, 1) !== undefined,
  };
}
