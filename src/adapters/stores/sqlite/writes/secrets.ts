import type { Database } from 'better-sqlite3';
import { boundOf, type SecretSize } from '../../../../core/ports/secret-store.js';
import { LIMIT } from '../reads/limit.js';
import type { Handlers } from '../steps.js';

interface SecretParams {
  readonly client: string;
  readonly app: string;
  readonly name: string;
  readonly key_id: string;
  readonly sealed: string;
  readonly created_at: number;
}

/** The write steps for sealed secrets. */
export function createSecretWrites(
  db: Database,
): Pick<Handlers, 'putSecrets' | 'noteSecretUse' | 'pruneSecrets' | 'deleteSecrets' | 'resealSecret'> {
  const put = db.prepare<[SecretParams]>(
    `INSERT INTO secrets (client, app, name, key_id, sealed, created_at)
     VALUES (@client, @app, @name, @key_id, @sealed, @created_at)
     ON CONFLICT (client, app, name) DO UPDATE SET
       key_id = excluded.key_id, sealed = excluded.sealed, created_at = excluded.created_at`,
  );
  const selectSizes = db.prepare<[client: string], SecretSize>(
    'SELECT app, name, 200 + octet_length(name) + octet_length(sealed) AS bytes FROM secrets WHERE client = ?',
  );
  const selectTotal = db
    .prepare<[app: string], number>('SELECT bytes FROM secret_apps WHERE app = ?')
    .pluck();
  const note = db.prepare<[at: number, client: string, notedBefore: number]>(
    'UPDATE secrets SET used_at = ? WHERE client = ? AND used_at < ?',
  );
  const prune = db.prepare<[before: number, limit: number]>(
    `DELETE FROM secrets WHERE (client, app, name) IN (
       SELECT client, app, name FROM secrets WHERE max(used_at, created_at) < ? ORDER BY max(used_at, created_at) ${LIMIT})`,
  );
  const remove = db.prepare<[{ client: string; app: string | null; name: string | null }]>(
    `DELETE FROM secrets WHERE client = @client AND (@app IS NULL OR app = @app) AND (@name IS NULL OR name = @name)`,
  );
  const reseal = db.prepare<
    [keyId: string, sealed: string, client: string, app: string, name: string, from: string]
  >(`UPDATE secrets SET key_id = ?, sealed = ? WHERE client = ? AND app = ? AND name = ? AND sealed = ?`);

  return {
    putSecrets(client, secrets, bounds, at) {
      const outcome = boundOf(selectSizes.all(client), secrets, bounds, (app) => selectTotal.get(app) ?? 0);
      if (outcome !== 'stored') return outcome;
      for (const { app, name, keyId, sealed } of secrets) {
        put.run({ client, app, name, key_id: keyId, sealed, created_at: at });
      }
      return outcome;
    },
    noteSecretUse(client, at, notedBefore) {
      note.run(at, client, notedBefore);
      return undefined;
    },
    pruneSecrets: (before, limit) => prune.run(before, limit).changes,
    deleteSecrets: (client, { app, name }) => remove.run({ client, app, name }).changes,
    resealSecret: (client, from, to) =>
      reseal.run(to.keyId, to.sealed, client, from.app, from.name, from.sealed).changes > 0,
  };
}
