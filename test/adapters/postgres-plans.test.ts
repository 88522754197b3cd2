import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Bindable, Run, Statement } from '../../src/adapters/stores/postgres/connections.js';
import { createReads } from '../../src/adapters/stores/postgres/queries/reads.js';
import { createSecrets } from '../../src/adapters/stores/postgres/queries/secrets.js';
import { createWallet } from '../../src/adapters/stores/postgres/queries/wallet.js';
import { createThreadReads } from '../../src/adapters/stores/postgres/queries/threads.js';
import { isJsonObject, type JsonValue } from '../../src/core/model/json.js';
import { end, record, sendAndClaim } from '../contracts/store-fixtures.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

/** What PostgreSQL did for one node of a plan. */
interface Node {
  readonly type: string;
  readonly index: string | null;
  readonly relation: string | null;
  /** How many rows it gave, all loops together. */
  readonly rows: number;
}

function nodesOf(value: JsonValue | undefined): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  if (!isJsonObject(value)) return Object.values(value).flatMap((item) => nodesOf(item));
  const text = (name: string) => (typeof value[name] === 'string' ? value[name] : null);
  const type = text('Node Type');
  const below = Object.values(value).flatMap((item) => nodesOf(item));
  if (type === null) return below;
  const rows = Number(value['Actual Rows']) * Number(value['Actual Loops']);
  return [{ type, index: text('Index Name'), relation: text('Relation Name'), rows }, ...below];
}

describeWithPostgres('the statements of the PostgreSQL store', () => {
  const database = testDatabase();

  /** The plans of what a method runs, with the rows that each step gave. */
  async function plansOf(url: string, use: (run: Run) => Promise<unknown>): Promise<Node[]> {
    const asked: { statement: Statement; values: readonly Bindable[] }[] = [];
    const run: Run = (statement, values) => {
      asked.push({ statement, values });
      return Promise.resolve([]);
    };
    await use(run);
    const plans = asked.map(async ({ statement, values }) => {
      const [row] = await runSql<{ 'QUERY PLAN': JsonValue }>(
        url,
        `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`,
        values,
      );
      return nodesOf(row?.['QUERY PLAN']);
    });
    return (await Promise.all(plans)).flat();
  }

  it('read of a long thread the records of its tail or page alone, and find sessions and old secrets by their indexes', async () => {
    const url = await database.newUrl();
    const store = await database.open({ url });
    try {
      const id = randomUUID();
      const turn = await sendAndClaim(store, id, { set: { wallet: 'w' } });
      const messages = Array.from({ length: 3_000 }, (_, n) =>
        record(turn, n + 1, n < 7 ? { role: 'system' } : {}),
      );
      await end(store, turn, { messages });
      await runSql(
        url,
        `INSERT INTO sessions (id, title, title_source, wallet, created_at, active_at)
         SELECT 's' || n, 't', 'placeholder', 'w' || n, n, n FROM generate_series(1, 3000) AS n`,
      );
      await runSql(
        url,
        `INSERT INTO secrets (client, app, name, key_id, sealed, created_at)
         SELECT 'c' || n, 'default', 'A', 'k', 's', n FROM generate_series(1, 3000) AS n`,
      );
      await runSql(url, 'ANALYZE');

      const read = (nodes: readonly Node[]) =>
        nodes
          .filter(({ relation, index }) => relation === 'messages' && index !== 'failures_of_session')
          .reduce((sum, { rows }) => sum + rows, 0);
      const tail = await plansOf(url, (run) => createThreadReads(run).loadTail(id, 2));
      expect(read(tail)).toBe(2);
      const counted = (nodes: readonly Node[]) =>
        nodes.filter(({ index }) => index === 'failures_of_session').map(({ rows }) => rows);
      expect(counted(tail)).toEqual([7]);
      const part = await plansOf(url, (run) => createThreadReads(run).loadThread(id, { newest: 5 }));
      expect(counted(part)).toEqual([7]);
      const page = await plansOf(url, (run) => createReads(run).readMessages(id, { limit: 4, before: null }));
      expect(read(page)).toBe(5);

      const sessions = await plansOf(url, (run) =>
        createReads(run).listSessions({ limit: 9, after: null, wallet: 'w' }),
      );
      expect(sessions.map(({ index }) => index)).toContainEqual(expect.stringMatching(/^threads_of_wallet/));

      const [plan] = await runSql<{ 'QUERY PLAN': JsonValue }>(
        url,
        `EXPLAIN (FORMAT JSON) SELECT ctid FROM secrets WHERE greatest(used_at, created_at) < 5
         ORDER BY greatest(used_at, created_at) LIMIT 5 FOR UPDATE SKIP LOCKED`,
      );
      expect(nodesOf(plan?.['QUERY PLAN']).map(({ index }) => index)).toContain('secrets_by_use');
      const totals = await plansOf(url, (run) => createSecrets(run).secretTotals());
      expect(totals.map(({ relation }) => relation)).not.toContain('secrets');
    } finally {
      await store.close();
    }
  });

  it('find wallet requests by their indexes', async () => {
    const url = await database.newUrl();
    const store = await database.open({ url });
    try {
      await runSql(
        url,
        `INSERT INTO sessions (id, title, title_source, created_at, active_at)
         SELECT 's' || n, 't', 'placeholder', n, n FROM generate_series(1, 2000) AS n`,
      );
      await runSql(
        url,
        `INSERT INTO wallet_requests (session, id, call_id, app, wallet, chain_id, label, kind, payload, value, sound,
           state, staged_at, requested_at, expires_at, proof, turn_id)
         SELECT ref, n, n, 'default', 'w' || ref % 50, 1, 'l', 'transaction', '{}', '1', true,
           CASE WHEN n > 3 THEN 'confirmed' ELSE 'pending' END, n, ref, ref, 'h' || ref || ':' || n, 't' || ref || ':' || n
         FROM sessions, generate_series(1, 10) AS n`,
      );
      await runSql(url, 'ANALYZE');
      const indexesOf = async (sql: string): Promise<(string | null)[]> => {
        const [row] = await runSql<{ 'QUERY PLAN': JsonValue }>(url, `EXPLAIN (FORMAT JSON) ${sql}`);
        return nodesOf(row?.['QUERY PLAN'])
          .map(({ index }) => index)
          .filter((index) => index?.includes('wallet_requests') === true);
      };
      const ofTurn = await plansOf(url, (run) =>
        createWallet(run).readWalletRequests('s1', { turnId: 't1:4' }),
      );
      expect(ofTurn.map(({ index }) => index)).toContain('wallet_requests_by_turn');
      const settled = await plansOf(url, (run) => createWallet(run).findSettledBy(1, 'h1:4'));
      expect(settled.map(({ index }) => index)).toContain('wallet_requests_by_proof');
      const last = await plansOf(url, (run) => createWallet(run).readWalletRequests('s1', { limit: 5 }));
      const read = last.filter(({ relation }) => relation === 'wallet_requests');
      expect(read).toMatchObject([{ index: 'wallet_requests_pkey', rows: 5 }]);
      // The queries inside of functions, which EXPLAIN does not show.
      const open = "state IN ('staged', 'pending')";
      expect(await indexesOf(`SELECT count(*) FROM wallet_requests WHERE session = 7 AND ${open}`)).toEqual([
        'open_wallet_requests_of_session',
      ]);
      expect(
        await indexesOf(
          `SELECT r.session, r.id FROM wallet_requests r JOIN sessions l ON l.ref = r.session
           WHERE r.${open} AND r.expires_at <= 5 ORDER BY r.expires_at LIMIT 9`,
        ),
      ).toEqual(['open_wallet_requests']);
      expect(
        await indexesOf(
          `SELECT sum(value::numeric) FROM wallet_requests
           WHERE app = 'default' AND wallet = 'w7' AND chain_id = 1 AND requested_at >= 1990 AND state <> 'rejected'`,
        ),
      ).toEqual(['wallet_requests_by_wallet']);
    } finally {
      await store.close();
    }
  });
});
