import type { Store } from '../../../../core/ports/store.js';
import type { Run, Statement } from '../connections.js';
import { toKey, type KeyRow } from '../rows.js';

const COLUMNS = 'id, digest, apps, label, created_at, expires_at, revoked_at';

const SAVE: Statement = {
  name: 'save_key',
  text: `INSERT INTO app_keys (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (id) DO UPDATE SET digest = EXCLUDED.digest, apps = EXCLUDED.apps, label = EXCLUDED.label,
      created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at, revoked_at = EXCLUDED.revoked_at`,
};
const FIND: Statement = { name: 'find_key', text: `SELECT ${COLUMNS} FROM app_keys WHERE digest = $1` };
const LIST: Statement = {
  name: 'list_keys',
  text: `SELECT ${COLUMNS} FROM app_keys ORDER BY created_at, id`,
};
const REVOKE: Statement = {
  name: 'revoke_key',
  text: 'UPDATE app_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING id',
};
/** Creates the reads and writes of App keys. */
export function createKeys(run: Run): Pick<Store, 'saveKey' | 'findKey' | 'listKeys' | 'revokeKey'> {
  return {
    async saveKey({ id, digest, apps, label, createdAt, expiresAt, revokedAt }) {
      await run(SAVE, [id, digest, JSON.stringify(apps), label, createdAt, expiresAt, revokedAt]);
    },
    async findKey(digest) {
      const [row] = await run<KeyRow>(FIND, [digest]);
      return row === undefined ? undefined : toKey(row);
    },
    async listKeys() {
      return (await run<KeyRow>(LIST, [])).map(toKey);
    },
    async revokeKey(id, at) {
      return (await run(REVOKE, [id, at])).length > 0;
    },
  };
}
