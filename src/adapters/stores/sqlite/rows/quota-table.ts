import type { Database } from 'better-sqlite3';
import type { Quota, Use } from '../../../../core/model/quota.js';

/** Reads and writes `uses`. */
export interface QuotaTable {
  /** Returns the first exhausted quota. */
  findExhausted(quotas: readonly Quota[]): Quota | undefined;
  add(use: Use): void;
}

export function createQuotaTable(db: Database): QuotaTable {
  const select = db
    .prepare<[string, string, number], number>(
      'SELECT amount FROM uses WHERE subject = ? AND measure = ? AND window_from = ?',
    )
    .pluck();
  const add = db.prepare<[string, string, number, number]>(
    `INSERT INTO uses (subject, measure, window_from, amount) VALUES (?, ?, ?, ?)
     ON CONFLICT (subject, measure, window_from) DO UPDATE SET amount = amount + excluded.amount`,
  );
  return {
    findExhausted: (quotas) =>
      quotas.find(({ subject, measure, from, limit }) => (select.get(subject, measure, from) ?? 0) >= limit),
    add({ subject, measure, from, amount }) {
      add.run(subject, measure, from, amount);
    },
  };
}
