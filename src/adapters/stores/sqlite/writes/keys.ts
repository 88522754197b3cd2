import type { Database } from 'better-sqlite3';
import type { KeyRow } from '../rows/turn-rows.js';
import type { Handlers } from '../steps.js';

/** The write steps for App keys, and the write probe of health checks. */
export function createKeyWrites(db: Database): Pick<Handlers, 'saveKey' | 'revokeKey' | 'probe'> {
  const save = db.prepare<[KeyRow]>(
    `INSERT OR REPLACE INTO app_keys (id, digest, apps, label, created_at, expires_at, revoked_at)
     VALUES (@id, @digest, @apps, @label, @created_at, @expires_at, @revoked_at)`,
  );
  const revoke = db.prepare<[at: number, id: string]>(
    'UPDATE app_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?',
  );
  const probe = db.prepare<[at: number]>('INSERT OR REPLACE INTO probe (id, at) VALUES (1, ?)');

  return {
    saveKey({ id, digest, apps, label, createdAt, expiresAt, revokedAt }) {
      const times = { created_at: createdAt, expires_at: expiresAt, revoked_at: revokedAt };
      save.run({ id, digest, apps: JSON.stringify(apps), label, ...times });
      return undefined;
    },
    revokeKey: (id, at) => revoke.run(at, id).changes > 0,
    probe(at) {
      probe.run(at);
      return undefined;
    },
  };
}
