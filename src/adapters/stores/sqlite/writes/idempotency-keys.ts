import type { Database } from 'better-sqlite3';

/** An idempotency key of a request, with the fingerprint of what it asks for. */
interface AskedKey {
  readonly key: string;
  readonly fingerprint: string;
  /** A stored key older than this is ignored. */
  readonly notBefore: number;
}

/** Reads and writes `idempotency_keys`. */
export interface IdempotencyKeys {
  /**
   * Returns the id of the turn or session that the same request created. `other`: the key was used with another
   * request. Undefined: it was not used.
   */
  find(session: number, asked: AskedKey): { readonly createdId: string } | 'other' | undefined;
  put(session: number, asked: AskedKey, createdId: string, at: number): void;
}

export function createIdempotencyKeys(db: Database): IdempotencyKeys {
  const select = db.prepare<
    [session: number, key: string],
    { readonly fingerprint: string; readonly turn_id: string; readonly created_at: number }
  >('SELECT fingerprint, turn_id, created_at FROM idempotency_keys WHERE session = ? AND key = ?');
  const insert = db.prepare<
    [session: number, key: string, fingerprint: string, createdId: string, at: number]
  >(
    'INSERT OR REPLACE INTO idempotency_keys (session, key, fingerprint, turn_id, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  return {
    find(session, { key, fingerprint, notBefore }) {
      const used = select.get(session, key);
      if (used === undefined || used.created_at < notBefore) return undefined;
      return used.fingerprint === fingerprint ? { createdId: used.turn_id } : 'other';
    },
    put(session, { key, fingerprint }, createdId, at) {
      insert.run(session, key, fingerprint, createdId, at);
    },
  };
}
