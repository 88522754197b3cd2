import type {
  SealedSecret,
  SecretClient,
  SecretStore,
  SecretTotal,
  StoredSecrets,
} from '../../../../core/ports/secret-store.js';
import type { Run, Statement } from '../connections.js';
import { callOf, resultOf } from '../functions.js';

interface SecretRow {
  readonly client: string;
  readonly app: string;
  readonly name: string;
  readonly key_id: string;
  readonly sealed: string;
}

const PUT = callOf('put_secrets', 6);
const PRUNE = callOf('prune_secrets', 2);
const NOTE_USE: Statement = {
  name: 'note_secret_use',
  text: 'UPDATE secrets SET used_at = $1 WHERE client = $2 AND used_at < $3',
};
const TOTALS: Statement = {
  name: 'secret_totals',
  text: 'SELECT app, secrets, bytes FROM secret_apps WHERE secrets > 0 ORDER BY app',
};
const CLIENTS: Statement = {
  name: 'secret_clients',
  text: `SELECT client, count(*) AS secrets, sum(secret_bytes(name, sealed)) AS bytes,
      max(created_at) AS "storedAt", nullif(max(used_at), 0) AS "usedAt"
    FROM secrets GROUP BY client ORDER BY max(greatest(used_at, created_at)), client COLLATE "C" LIMIT $1`,
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
// Skips through the index from one distinct key to the next: there are many secrets but few keys.
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

export function createSecrets(run: Run): SecretStore {
  return {
    async putSecrets(client, secrets, bounds, at) {
      const last = new Map(secrets.map((secret) => [JSON.stringify([secret.app, secret.name]), secret]));
      const records = [...last.values()].map(({ app, name, keyId, sealed }) => ({
        ...{ app, name, sealed },
        key_id: keyId,
      }));
      const values = [client, JSON.stringify(records), bounds.names, bounds.client, bounds.app, at];
      return resultOf<StoredSecrets>(run, PUT, values);
    },
    async noteSecretUse(client, at, notedBefore) {
      await run(NOTE_USE, [at, client, notedBefore]);
    },
    secretTotals: () => run<SecretTotal>(TOTALS, []),
    listSecretClients: (limit) => run<SecretClient>(CLIENTS, [limit]),
    async pruneSecrets(before, limit) {
      const [row] = await run<{ result: number }>(PRUNE, [before, limit]);
      return row?.result ?? 0;
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
