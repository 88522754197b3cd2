import type { Database } from 'better-sqlite3';
import type { SealedSecret, SecretClient, SecretTotal } from '../../../../core/ports/secret-store.js';
import { LIMIT, limitOf } from './limit.js';

interface SecretRow {
  readonly client: string;
  readonly app: string;
  readonly name: string;
  readonly key_id: string;
  readonly sealed: string;
}

/** The reads of sealed secrets. */
export function createSecretReads(db: Database) {
  const select = db.prepare<[{ client: string; app: string | null }], SecretRow>(
    'SELECT * FROM secrets WHERE client = @client AND (@app IS NULL OR app = @app) ORDER BY app, name',
  );
  const selectOld = db.prepare<[{ keyId: string; limit: number }], SecretRow>(
    `SELECT * FROM secrets WHERE key_id < @keyId OR key_id > @keyId ${limitOf('limit')}`,
  );
  // Skips through the index from one distinct key to the next: there are many secrets but few keys.
  const selectKeyIds = db.prepare<[], { key_id: string }>(
    `WITH RECURSIVE ids (key_id) AS (
      SELECT min(key_id) FROM secrets
      UNION ALL SELECT (SELECT min(key_id) FROM secrets WHERE key_id > ids.key_id) FROM ids WHERE key_id IS NOT NULL
    ) SELECT key_id FROM ids WHERE key_id IS NOT NULL`,
  );
  const selectTotals = db.prepare<[], SecretTotal>(
    'SELECT app, secrets, bytes FROM secret_apps WHERE secrets > 0 ORDER BY app',
  );
  const selectClients = db.prepare<[limit: number], SecretClient>(
    `SELECT client, count(*) AS secrets, sum(200 + octet_length(name) + octet_length(sealed)) AS bytes,
       max(created_at) AS storedAt, nullif(max(used_at), 0) AS usedAt
     FROM secrets GROUP BY client ORDER BY max(max(used_at, created_at)), client ${LIMIT}`,
  );
  return {
    secretTotals: (): SecretTotal[] => selectTotals.all(),
    listSecretClients: (limit: number): SecretClient[] => selectClients.all(limit),
    secretKeyIds: (): string[] => selectKeyIds.all().map(({ key_id }) => key_id),
    readSecrets: (client: string, app: string | null): SealedSecret[] =>
      select.all({ client, app }).map(toSecret),
    readSecretsNotUnder: (keyId: string, limit: number): (SealedSecret & { client: string })[] =>
      selectOld.all({ keyId, limit }).map((row) => ({ ...toSecret(row), client: row.client })),
  };
}

function toSecret({ app, name, key_id, sealed }: SecretRow): SealedSecret {
  return { app, name, keyId: key_id, sealed };
}
