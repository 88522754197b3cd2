import { StoreUnavailableError, type Store } from '../../../../core/ports/store.js';
import { TRANSFER_TABLES } from '../../../../core/ports/transfer-tables.js';
import type { Run, Statement } from '../connections.js';

/** All tables that the service reads and writes. */
export const TABLES = [...TRANSFER_TABLES, 'buried', 'long_logs', 'open_calls', 'probe', 'secret_apps'];

/**
 * Writes a row, and returns the first right that the role lacks: one table may have another owner, for example when
 * another role has applied a migration.
 */
const PROBE: Statement = {
  name: 'probe',
  text: `WITH written AS (
      INSERT INTO probe (id, at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at
    ), missing AS (
      SELECT 'table ' || name AS object, permission
      FROM unnest($2::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS permission
      WHERE NOT has_table_privilege(to_regclass(name), permission)
      UNION ALL
      SELECT 'sequence session_refs', 'USAGE' WHERE NOT has_sequence_privilege('session_refs', 'USAGE, UPDATE')
    )
    SELECT object, permission FROM missing LIMIT 1`,
};

/** Creates the write probe of health checks. */
export function createProbe(run: Run): Pick<Store, 'check'> {
  return {
    async check() {
      const [missing] = await run<{ object: string; permission: string }>(PROBE, [Date.now(), TABLES]);
      if (missing === undefined) return;
      const { object, permission } = missing;
      throw new StoreUnavailableError(
        `PostgreSQL cannot be used now: permission denied for ${object}: ${permission} is not granted`,
      );
    },
  };
}
