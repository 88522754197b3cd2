import type { Database } from 'better-sqlite3';
import type { Handlers } from './steps.js';

interface SecretParams {
  readonly client: string;
  readonly app: string;
  readonly name: string;
  readonly key_id: string;
  readonly sealed: string;
  readonly created_at: number;
}

/** The steps on sealed secrets. */
export function createSecretWrites(
  db: Database,
): Pick<Handlers, 'putSecrets' | 'deleteSecrets' | 'resealSecret'> {
  const put = db.prepare<[SecretParams]>(
    `INSERT OR REPLACE INTO secrets (client, app, name, key_id, sealed, created_at)
     VALUES (@client, @app, @name, @key_id, @sealed, @created_at)`,
  );
  const remove = db.prepare<[{ client: string; app: string | null; name: string | null }]>(
    `DELETE FROM secrets WHERE client = @client AND (@app IS NULL OR app = @app) AND (@name IS NULL OR name = @name)`,
  );
  const reseal = db.prepare<
    [keyId: string, sealed: string, client: string, app: string, name: string, from: string]
  >(`UPDATE secrets SET key_id = ?, sealed = ? WHERE client = ? AND app = ? AND name = ? AND sealed = ?`);

  return {
    putSecrets(client, secrets, at) {
      for (const { app, name, keyId, sealed } of secrets) {
        put.run({ client, app, name, key_id: keyId, sealed, created_at: at });
      }
      return undefined;
    },
    deleteSecrets: (client, { app, name }) => remove.run({ client, app, name }).changes,
    resealSecret: (client, from, to) =>
      reseal.run(to.keyId, to.sealed, client, from.app, from.name, from.sealed).changes > 0,
  };
}
