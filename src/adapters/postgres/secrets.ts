import type { SealedSecret, SecretStore } from '../../core/secret-store.js';
import type { Run, Statement } from './connections.js';

interface SecretRow {
  readonly client: string;
  readonly app: string;
  readonly name: string;
  readonly key_id: string;
  readonly sealed: string;
}

const PUT: Statement = {
  name: 'put_secrets',
  text: `INSERT INTO secrets (client, app, name, key_id, sealed, created_at)
    SELECT $1, s.app, s.name, s.key_id, s.sealed, $6
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS s (app, name, key_id, sealed)
    ON CONFLICT (client, app, name) DO UPDATE SET
      key_id = EXCLUDED.key_id, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at`,
};
const READ: Statement = {
  name: 'read_secrets',
  text: `SELECT client, app, name, key_id, sealed FROM secrets
    WHERE client = $1 AND ($2::text IS NULL OR app = $2) ORDER BY app, name`,
};
const DELETE: Statement = {
  name: 'delete_secrets',
  text: `DELETE FROM secrets WHERE client = $1 AND ($2::text IS NULL OR app = $2) AND ($3::text IS NULL OR name = $3)
    RETURNING name`,
};
// From one to the next by the index: a table of many values has few keys.
const KEY_IDS: Statement = {
  name: 'secret_key_ids',
  text: `WITH RECURSIVE ids (key_id) AS (
      SELECT min(key_id) FROM secrets
      UNION ALL SELECT (SELECT min(key_id) FROM secrets WHERE key_id > ids.key_id) FROM ids WHERE key_id IS NOT NULL
    ) SELECT key_id FROM ids WHERE key_id IS NOT NULL`,
};
const READ_OLD: Statement = {
  name: 'read_old_secrets',
  text: `SELECT client, app, name, key_id, sealed FROM secrets WHERE key_id < $1 OR key_id > $1 LIMIT $2`,
};
const RESEAL: Statement = {
  name: 'reseal_secret',
  text: `UPDATE secrets SET key_id = $1, sealed = $2 WHERE client = $3 AND app = $4 AND name = $5 AND sealed = $6
    RETURNING name`,
};

/** Sealed secrets. */
export function createSecrets(run: Run): SecretStore {
  return {
    async putSecrets(client, secrets, at) {
      const last = [
        ...new Map(secrets.map((secret) => [JSON.stringify([secret.app, secret.name]), secret])).values(),
      ];
      await run(PUT, [
        client,
        last.map(({ app }) => app),
        last.map(({ name }) => name),
        last.map(({ keyId }) => keyId),
        last.map(({ sealed }) => sealed),
        at,
      ]);
    },
    async readSecrets(client, app) {
      return (await run<SecretRow>(READ, [client, app])).map(toSecret);
    },
    async deleteSecrets(client, { app, name }) {
      return (await run(DELETE, [client, app, name])).length;
    },
    async secretKeyIds() {
      return (await run<Pick<SecretRow, 'key_id'>>(KEY_IDS, [])).map(({ key_id }) => key_id);
    },
    async readSecretsNotUnder(keyId, limit) {
      const rows = await run<SecretRow>(READ_OLD, [keyId, limit]);
      return rows.map((row) => ({ ...toSecret(row), client: row.client }));
    },
    async resealSecret(client, from, to) {
      const changed = await run(RESEAL, [to.keyId, to.sealed, client, from.app, from.name, from.sealed]);
      return changed.length > 0;
    },
  };
}

function toSecret({ app, name, key_id, sealed }: SecretRow): SealedSecret {
  return { app, name, keyId: key_id, sealed };
}
