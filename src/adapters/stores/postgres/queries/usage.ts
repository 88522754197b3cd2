import type { SurfaceSeen, UsageRow, UsageStore } from '../../../../core/ports/usage-store.js';
import type { Run, Statement } from '../connections.js';

// Sorted, so that rows are locked in a fixed order and concurrent nodes cannot deadlock.
const ADD: Statement = {
  name: 'add_usage',
  text: `INSERT INTO usage (day, surface, endpoint, key_id, client, requests, first_at, last_at)
    SELECT day, surface, endpoint, key_id, client, sum(requests), min(first_at), max(last_at)
    FROM json_to_recordset($1::json) AS r (day bigint, surface text, endpoint text, key_id text, client text,
      requests bigint, first_at bigint, last_at bigint)
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY day, surface COLLATE "C", endpoint COLLATE "C", key_id COLLATE "C", client COLLATE "C"
    ON CONFLICT (day, surface, endpoint, key_id, client) DO UPDATE SET requests = usage.requests + EXCLUDED.requests,
      first_at = least(usage.first_at, EXCLUDED.first_at), last_at = greatest(usage.last_at, EXCLUDED.last_at)`,
};
const READ: Statement = {
  name: 'read_usage',
  text: `SELECT day, surface, endpoint, nullif(key_id, '') AS "keyId", client, requests, first_at AS "firstAt", last_at AS "lastAt"
    FROM usage WHERE day >= $1 ORDER BY day, surface, endpoint, key_id, client`,
};
const READ_SEEN: Statement = {
  name: 'read_usage_seen',
  text: `SELECT surface, min(first_at) AS "firstAt", max(last_at) AS "lastAt" FROM usage GROUP BY surface ORDER BY surface`,
};
const READ_CLIENTS: Statement = {
  name: 'read_usage_clients',
  text: 'SELECT DISTINCT client FROM usage WHERE day >= $1 ORDER BY client',
};

const CLAIM_NOTICE: Statement = {
  name: 'claim_notice',
  text: `INSERT INTO notices (name, owner, claimed_until) VALUES ($1, $2, $4)
    ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, claimed_until = EXCLUDED.claimed_until
    WHERE notices.claimed_until <= $3 AND (notices.delivered_at IS NULL OR notices.delivered_at < $5)
    RETURNING name`,
};
const SETTLE_NOTICE: Statement = {
  name: 'settle_notice',
  text: 'UPDATE notices SET delivered_at = $3, claimed_until = 0 WHERE name = $1 AND owner = $2',
};

/** Request counts by day, and notices about them. */
export function createUsage(run: Run): UsageStore {
  return {
    async addUsage(rows) {
      if (rows.length === 0) return;
      const records = rows.map(({ keyId, firstAt, lastAt, ...row }) => ({
        ...row,
        key_id: keyId ?? '',
        first_at: firstAt,
        last_at: lastAt,
      }));
      await run(ADD, [JSON.stringify(records)]);
    },
    async readUsage(since) {
      const [rows, seen] = await Promise.all([run<UsageRow>(READ, [since]), run<SurfaceSeen>(READ_SEEN, [])]);
      return { rows, seen };
    },
    async readUsageClients(since) {
      return (await run<{ client: string }>(READ_CLIENTS, [since])).map(({ client }) => client);
    },
    async claimNotice({ name, owner, at, until, deliveredBefore }) {
      return (await run(CLAIM_NOTICE, [name, owner, at, until, deliveredBefore])).length > 0;
    },
    async settleNotice(name, owner, at) {
      await run(SETTLE_NOTICE, [name, owner, at]);
    },
  };
}
