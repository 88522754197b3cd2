import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { Place } from '../cli/running.js';
import { storeContract } from '../contracts/store.js';
import { describeWithPooler, ownPooler, type OwnPooler } from '../support/own-pooler.js';
import { describeWithPostgres, emptySchema, POSTGRES_URL, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { describeWithRedis, REDIS_URL } from '../support/redis.js';

// Services start and stop.
jest.setTimeout(60_000);

/** Fewer than the connections of the stores, so that each transaction may get another one. */
const SERVER_CONNECTIONS = 2;

/** The lines of `pgbouncer.ini` that docs/deploying.md shows. */
function documentedSettings(): string[] {
  const [, block = ''] =
    /```ini\n; pgbouncer\.ini\n(.*?)```/s.exec(readFileSync('docs/deploying.md', 'utf8')) ?? [];
  return block.trim().split('\n');
}

describeWithPostgres('behind a pooler', () => {
  describeWithPooler('that pools by transaction', () => {
    const database = testDatabase();
    const undurable = testDatabase();
    let pooler: OwnPooler;

    beforeAll(async () => {
      const settings = documentedSettings();
      expect(settings).toContain('pool_mode = transaction');
      pooler = await ownPooler(POSTGRES_URL, [
        ...[...settings, `default_pool_size = ${String(SERVER_CONNECTIONS)}`],
      ]);
      await pooler.start();
      // Also creates the databases. Behind the pooler, the tables are in their schema `public`.
      const url = new URL(await database.newUrl());
      url.search = '';
      directUrl = url.href;
      await undurable.newUrl();
    });
    afterAll(() => pooler.remove());

    let directUrl: string;
    const options = () => ({ url: pooler.urlOf(database.name), preparesStatements: false });
    storeContract('the PostgreSQL store', async () => {
      await emptySchema(directUrl);
      const store = await openPostgresStore({ ...options(), poolSize: 4 });
      return { store, close: () => store.close() };
    });

    it('needs statements without names', async () => {
      await emptySchema(directUrl);
      const named = { ...options(), preparesStatements: true, poolSize: 1 };
      const stores = [await openPostgresStore(named), await openPostgresStore(named)] as const;
      await stores[0].check();
      // The connection of the server already has a statement of that name, from the other client.
      await expect(stores[1].check()).rejects.toThrow(
        'PostgreSQL refused a statement (42P05): a pooler that pools by transaction needs DATABASE_PREPARED=off',
      );
      await Promise.all(stores.map((store) => store.close()));
    });

    it('refuses to start when commits are not durable and the pooler ignores what the connection sets', async () => {
      const { name } = undurable;
      await runSql(POSTGRES_URL, `ALTER DATABASE ${name} SET synchronous_commit = off`);
      const url = pooler.urlOf(name);
      await expect(openPostgresStore({ url, preparesStatements: false })).rejects.toThrow(
        'ALTER ROLE … SET synchronous_commit = on',
      );
      const direct = new URL(POSTGRES_URL);
      direct.pathname = `/${name}`;
      await (await openPostgresStore({ url: direct.href })).close();
    });

    describeWithRedis('with Redis', () => {
      it('carries the turns of two nodes on both surfaces, and what they stored survives them', async () => {
        await emptySchema(directUrl);
        const place = new Place();
        const env = {
          ...{ DATABASE_URL: pooler.urlOf(database.name), DATABASE_PREPARED: 'off' },
          ...{ REDIS_URL, REDIS_PREFIX: `test:${randomUUID()}` },
          SECRETS_KEY: randomBytes(32).toString('base64'),
        };
        try {
          const nodes = await Promise.all([place.serve(env), place.serve(env)]);
          const [one, two] = nodes;
          const sessions = Array.from({ length: 8 }, () => randomUUID());
          const ask = async (url: string, method: string, path: string, session: string, body?: object) => {
            const headers = {
              'X-Session-Id': session,
              Prefer: 'wait=30',
              'Content-Type': 'application/json',
            };
            const answer = await fetch(url + path, {
              ...{ method, headers },
              ...(body && { body: JSON.stringify(body) }),
            });
            const text = await answer.text();
            expect([path, answer.status, text.includes('"error"')]).toEqual([path, 200, false]);
            return text;
          };
          await Promise.all(
            sessions.map(async (session) => {
              await ask(one.url, 'POST', '/api/chat?message=One', session);
              await ask(two.url, 'POST', '/api/thread/chat', session, { text: 'Two' });
            }),
          );
          const backends = await runSql<{ count: string }>(
            POSTGRES_URL,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
            [database.name],
          );
          expect(Number(backends[0]?.count)).toBe(SERVER_CONNECTIONS);
          for (const { running } of nodes) running.child.kill('SIGTERM');
          expect(await Promise.all(nodes.map(({ running }) => running.ended))).toEqual([0, 0]);

          const again = await place.serve(env);
          for (const session of sessions) {
            const state = JSON.parse(await ask(again.url, 'GET', '/api/state', session)) as {
              is_processing: boolean;
              messages: { sender: string; content: string }[];
            };
            expect(state.is_processing).toBe(false);
            const said = state.messages.filter(({ sender }) => sender === 'user');
            expect(said.map(({ content }) => content)).toEqual(['One', 'Two']);
            expect(state.messages.filter(({ sender }) => sender === 'agent')).toHaveLength(2);
          }
        } finally {
          await place.clear();
        }
      });
    });
  });
});
