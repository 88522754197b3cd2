import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { openConnections } from '../../src/adapters/stores/postgres/connections.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { StoreUnavailableError, type Store } from '../../src/core/ports/store.js';
import { change, loaded, record, send, sendAndClaim, T0 } from '../contracts/store-fixtures.js';
import { describeWithPostgres, POSTGRES_URL, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { startProxy, type Proxy } from '../support/proxy.js';
import { collectLines, type Lines } from '../support/lines.js';

/** The server's processes that wait for a lock in the test's database. */
const WAITING =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

describeWithPostgres('a PostgreSQL store when the connection fails', () => {
  const database = testDatabase();
  let url: string;
  /** The same by the proxy. */
  let nearUrl: string;
  let proxy: Proxy;
  let lines: Lines;
  let store: Store;

  beforeEach(async () => {
    url = await database.newUrl();
    const near = new URL(url);
    proxy = await startProxy(Number(new URL(POSTGRES_URL).port || '5432'));
    near.hostname = '127.0.0.1';
    near.port = String(proxy.port);
    lines = collectLines();
    nearUrl = near.href;
    store = await openPostgresStore({ url: nearUrl, poolSize: 3, log: lines.log });
  });

  /** Opens another store in place of the first. */
  async function reopen(timeouts: { connectTimeoutMs: number; statementTimeoutMs: number }): Promise<void> {
    await store.close();
    store = await openPostgresStore({ url: nearUrl, poolSize: 3, ...timeouts });
  }

  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  /** Calls of every kind, which must all say the same. */
  const calls = (): Promise<unknown>[] => {
    const id = randomUUID();
    return [
      store.loadThread(id),
      store.heads([id]),
      store.saveSession(change(id)),
      send(store, randomUUID()),
      store.claimAbandoned({ owner: 'a', milliseconds: 1 }, [], 1),
      store.renewLeases({ owner: 'a', milliseconds: 1 }, [id]),
      store.deleteSession(id, T0),
      store.findKey('d'),
      store.check(),
    ];
  };
  const allUnavailable = async (): Promise<void> => {
    const results = await Promise.allSettled(calls());
    for (const result of results) {
      expect(result).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
    }
  };

  it('is unavailable while the network is cut, and well again by itself', async () => {
    const id = randomUUID();
    await send(store, id);
    await proxy.cut();
    await allUnavailable();
    await allUnavailable();
    await proxy.restore();
    await Promise.all(calls());
    expect((await loaded(store, id)).open).toHaveLength(1);
  });

  it('fails within its limits while the server does not answer, and is well again by itself', async () => {
    // Long enough for what works on a busy machine; without limits the calls would never end.
    await reopen({ connectTimeoutMs: 2_500, statementTimeoutMs: 2_500 });
    await Promise.all(calls());
    proxy.stall();
    await allUnavailable();
    await proxy.restore();
    await Promise.all(calls());
  });

  it('outlives connections that the server ends, idle or at work', async () => {
    // Writes of one session would wait on one connection.
    const ids = [randomUUID(), randomUUID()];
    const turns = await Promise.all(ids.map((id) => sendAndClaim(store, id)));
    const blocker = new Client({ connectionString: url });
    blocker.on('error', () => undefined);
    await blocker.connect();
    await blocker.query('BEGIN; SELECT FROM sessions FOR UPDATE');
    const writes = turns.map((turn) =>
      store.saveProgress(turn, { messages: [record(turn, 1)], events: [], partialText: '' }, T0),
    );
    const outcomes = Promise.allSettled(writes);
    // Ended only once both wait for the lock, and while its holder lives: else a write may be done first.
    while ((await runSql(url, WAITING)).length < writes.length);
    await runSql(url, `SELECT pg_terminate_backend(pid) FROM (${WAITING}) AS waiting`);
    for (const outcome of await outcomes) {
      expect(outcome).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
    }
    await blocker.end();
    for (const id of ids) expect((await loaded(store, id)).open[0]?.messages).toHaveLength(1);
    await Promise.all([store.check(), store.check(), store.check()]);
    await runSql(
      url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await lines.has('an idle connection to PostgreSQL was lost', 3);
    await Promise.all([store.check(), store.check(), store.check()]);
  });

  it('repeats a statement once that was rolled back because of a deadlock', async () => {
    // A sequence counts attempts, because a rollback does not take its numbers back.
    await runSql(
      url,
      `CREATE SEQUENCE attempts;
       CREATE FUNCTION deadlocks(times bigint) RETURNS bigint LANGUAGE plpgsql AS $$
         DECLARE attempt bigint := nextval('attempts');
         BEGIN
           IF attempt <= times THEN RAISE deadlock_detected; END IF;
           RETURN attempt;
         END $$`,
    );
    const connections = openConnections({ url, poolSize: 1 }, {});
    const statement = { name: 'deadlocks', text: 'SELECT deadlocks($1) AS attempt' };
    expect(await connections.run(statement, [1])).toEqual([{ attempt: 2 }]);
    await expect(connections.run(statement, [10])).rejects.toThrow(StoreUnavailableError);
    expect(await connections.run(statement, [4])).toEqual([{ attempt: 5 }]);
    await connections.close();
  });

  it('gives up a statement that waits for a lock too long', async () => {
    const id = randomUUID();
    await send(store, id);
    const impatient = await openPostgresStore({ url, poolSize: 1, statementTimeoutMs: 500 });
    const blocker = new Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('BEGIN; SELECT FROM sessions FOR UPDATE');
    try {
      await expect(impatient.saveSession(change(id))).rejects.toThrow(StoreUnavailableError);
      expect((await loaded(store, id)).open).toHaveLength(1);
    } finally {
      await blocker.end();
      await impatient.close();
    }
    await send(store, id);
    expect((await loaded(store, id)).open).toHaveLength(2);
  });

  it('gives up all writes that wait for the same session together', async () => {
    const id = randomUUID();
    await send(store, id);
    const impatient = await openPostgresStore({ url, poolSize: 3, statementTimeoutMs: 500 });
    const blocker = new Client({ connectionString: url });
    await blocker.connect();
    await blocker.query('BEGIN; SELECT FROM sessions FOR UPDATE');
    try {
      const first = impatient.saveSession(change(id, { set: { title: 'first' } }));
      const others = Array.from({ length: 5 }, () =>
        impatient.saveSession(change(id, { set: { title: 'late' } })),
      );
      const all = Promise.allSettled([first, ...others]);
      await expect(first).rejects.toThrow(StoreUnavailableError);
      // The session is free again now, so that a later attempt would succeed.
      await blocker.query('COMMIT');
      for (const { status } of await all) expect(status).toBe('rejected');
      expect((await loaded(store, id)).session.title).not.toBe('late');
    } finally {
      await blocker.end();
      await impatient.close();
    }
  });

  it('is unavailable where it can only read', async () => {
    await runSql(url, `ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
    try {
      await proxy.cut();
      await proxy.restore();
      await expect(store.check()).rejects.toThrow(StoreUnavailableError);
      await expect(store.saveSession(change(randomUUID()))).rejects.toThrow(StoreUnavailableError);
      expect(await store.loadThread(randomUUID())).toBe('unknown');
    } finally {
      // The statement itself must be allowed to write.
      const admin = new URL(POSTGRES_URL);
      await runSql(admin.href, `ALTER DATABASE ${database.name} RESET default_transaction_read_only`);
    }
  });

  it('distinguishes a defect from a database that cannot be used', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(store, id);
    const clash = { messages: [record(turn, 1), record(turn, 1)], events: [], partialText: '' };
    const saving = store.saveProgress(turn, clash, T0);
    await expect(saving).rejects.toThrow('PostgreSQL refused a statement (23505)');
    await expect(saving).rejects.not.toBeInstanceOf(StoreUnavailableError);
    await store.check();
  });
});
