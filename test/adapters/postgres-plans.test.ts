import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Bindable, Run, Statement } from '../../src/adapters/stores/postgres/connections.js';
import { createReads } from '../../src/adapters/stores/postgres/queries/reads.js';
import { createSecrets } from '../../src/adapters/stores/postgres/queries/secrets.js';
import { createThreadReads } from '../../src/adapters/stores/postgres/queries/threads.js';
import { isJsonObject, type JsonValue } from '../../src/core/model/json.js';
import { end, record, sendAndClaim } from '../contracts/store-fixtures.js';
import { describeWithPostgres, runSql, testDatabase } from '../support/postgres.js';

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
      await end(store, turn, { messages: Array.from({ length: 3_000 }, (_, n) => record(turn, n + 1)) });
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
        nodes.filter(({ relation }) => relation === 'messages').reduce((sum, { rows }) => sum + rows, 0);
      const tail = await plansOf(url, (run) => createThreadReads(run).loadTail(id, 2));
      expect(read(tail)).toBe(2);
      const page = await plansOf(url, (run) => createReads(run).readMessages(id, { limit: 4, before: null }));
      expect(read(page)).toBe(5);

      const sessions = await plansOf(url, (run) =>
        createReads(run).listSessions({ limit: 9, after: null, wallet: 'w' }),
      );
      expect(sessions.map(({ index }) => index)).toContain('threads_of_wallet');

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
});
