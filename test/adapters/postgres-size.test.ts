import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, types } from 'pg';
import type { Run } from '../../src/adapters/stores/postgres/connections.js';
import { createLeases } from '../../src/adapters/stores/postgres/queries/leases.js';
import { createOverview } from '../../src/adapters/stores/postgres/queries/overview.js';
import { createReads } from '../../src/adapters/stores/postgres/queries/reads.js';
import { createRemoval } from '../../src/adapters/stores/postgres/queries/removal.js';
import { createSecrets } from '../../src/adapters/stores/postgres/queries/secrets.js';
import { createThreadReads } from '../../src/adapters/stores/postgres/queries/threads.js';
import { createWallet } from '../../src/adapters/stores/postgres/queries/wallet.js';
import { createWrites } from '../../src/adapters/stores/postgres/queries/writes.js';
import type { EventBody } from '../../src/core/model/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import { acceptance, ending, LEASE, NO_PRUNE, record } from '../contracts/store-fixtures.js';
import { FILLED_FROM, filledId, fillPostgres, filledWallet } from '../support/filled-postgres.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

const LONG = 'f0000000-0000-4000-8000-00000000000f';
const FILLING = { sessions: 30_000, turns: 2, wallets: 100, threads: { [LONG]: 5_000 } };
/** Tables that hold a row for each session, or more. */
const LARGE = ['sessions', 'turns', 'messages', 'events'];
/** PostgreSQL plans a prepared statement for its parameters five times, and may keep one plan for all of them after. */
const RUNS = 8;

/** A table that a statement read, and how. */
interface Scan {
  readonly type: string;
  readonly relation: string;
  /** The rows that were read, also those that a filter dropped, all loops together. */
  readonly rows: number;
}

function scansOf(value: JsonValue | undefined): Scan[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap((item: JsonValue | undefined) => scansOf(item));
  if (!isJsonObject(value)) return below;
  const { 'Node Type': type, 'Relation Name': relation } = value;
  if (typeof type !== 'string' || typeof relation !== 'string' || !type.includes('Scan')) return below;
  const counts = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'];
  const each = counts.reduce((sum, name) => sum + Number(value[name] ?? 0), 0);
  return [{ type, relation, rows: each * Number(value['Actual Loops']) }, ...below];
}

describeWithPostgres('the PostgreSQL store with many sessions and a long thread', () => {
  let client: Client | undefined;
  let plans: JsonObject[] = [];
  // Ends the connection before the database is dropped.
  afterAll(() => client?.end());
  const database = testDatabase();

  const run: Run = async ({ name, text }, values) => {
    const { rows } = await connected().query({ name, text, values: [...values] });
    return rows as never[];
  };

  function connected(): Client {
    if (client === undefined) throw new Error('there is no connection');
    return client;
  }

  /** What the statements of a use read, of all its runs the one that read most; also those inside of functions. */
  async function mostRead(use: (n: number) => Promise<unknown>): Promise<Scan[]> {
    let most: Scan[] = [];
    const rowsOf = (scans: readonly Scan[]) => scans.reduce((sum, { rows }) => sum + rows, 0);
    for (let n = 1; n <= RUNS; n++) {
      plans = [];
      await use(n);
      expect(plans.length).toBeGreaterThan(0);
      const scans = plans.flatMap((plan) => scansOf(plan)).filter(({ relation }) => LARGE.includes(relation));
      expect(scans.filter(({ type }) => type === 'Seq Scan')).toEqual([]);
      if (rowsOf(scans) >= rowsOf(most)) most = scans;
    }
    return most;
  }

  async function rowsRead(use: (n: number) => Promise<unknown>): Promise<number> {
    return (await mostRead(use)).reduce((sum, { rows }) => sum + rows, 0);
  }

  beforeAll(async () => {
    const url = await database.newUrl();
    await (await database.open({ url })).close();
    await fillPostgres((sql) => runSql(url, sql), FILLING);
    const opened = new Client({ connectionString: url });
    opened.setTypeParser(types.builtins.INT8, Number);
    await opened.connect();
    opened.on('notice', ({ message = '' }) => {
      const at = message.indexOf('plan:\n');
      if (at === -1) return;
      plans.push(JSON.parse(message.slice(at + 'plan:\n'.length)) as JsonObject);
    });
    await opened.query(`LOAD 'auto_explain'`);
    for (const setting of [
      ...['log_min_duration = 0', 'log_nested_statements = on', 'log_analyze = on', 'log_timing = off'],
      ...['log_format = json', 'log_level = notice'],
    ]) {
      await opened.query(`SET auto_explain.${setting}`);
    }
    client = opened;
  }, 60_000);

  it('lists a page of the threads of a wallet, and of all sessions', async () => {
    const reads = createReads(run);
    const wallet = (n: number) => filledWallet(n, FILLING);
    const first = (n: number) => reads.listThreads(wallet(n), { limit: 20, after: null });
    expect(await first(1)).toHaveLength(20);
    // Of the index alone: the threads of a wallet are spread over the table.
    expect(await mostRead(first)).toEqual([{ type: 'Index Only Scan', relation: 'sessions', rows: 20 }]);
    const next = async (n: number) => {
      const [after = null] = (await first(n)).slice(-1);
      plans = [];
      expect(await reads.listThreads(wallet(n), { limit: 20, after })).toHaveLength(20);
    };
    expect(await rowsRead(next)).toBeLessThanOrEqual(21);
    expect(await rowsRead(() => reads.listSessions({ limit: 50, after: null }))).toBe(50);
    expect(await rowsRead((n) => reads.listSessions({ limit: 50, after: null, wallet: wallet(n) }))).toBe(50);
  });

  it('reads the state of a short thread', async () => {
    const { loadThread } = createThreadReads(run);
    expect(await loadThread(filledId(7))).toMatchObject({ settled: { length: 4 }, open: [] });
    expect(await rowsRead((n) => loadThread(filledId(n)))).toBeLessThanOrEqual(6);
    expect(await rowsRead((n) => createReads(run).heads([filledId(n)]))).toBe(1);
  });

  it('reads the tail of a long thread, and pages of it', async () => {
    const { loadTail, readFlight } = createThreadReads(run);
    expect(await loadTail(LONG, 20)).toMatchObject({ messages: { length: 20 }, shown: 10_000 });
    expect(await rowsRead(() => loadTail(LONG, 20))).toBe(21);
    expect(await rowsRead(() => readFlight(LONG))).toBeLessThanOrEqual(2);
    const reads = createReads(run);
    expect(await rowsRead(() => reads.readMessages(LONG, { limit: 20, before: null }))).toBeLessThanOrEqual(
      22,
    );
    const { messages = [] } = Object(await reads.readMessages(LONG, { limit: 5_000, before: null })) as {
      messages?: { id: string }[];
    };
    const before = messages[0]?.id ?? '';
    const page = () => reads.readMessages(LONG, { limit: 20, before });
    expect(await page()).toMatchObject({ messages: { length: 20 }, hasMore: true });
    expect(await rowsRead(page)).toBeLessThanOrEqual(23);
  });

  it('runs a turn, of a long thread too', async () => {
    const writes = createWrites(run);
    const turnOf = (sessionId: string, at: number) => async () => {
      const message = acceptance(sessionId, { ifVersion: 2, claim: LEASE, busy: 'enqueue', at });
      const accepted = await writes.acceptMessage(message);
      if (accepted.kind !== 'accepted' || accepted.claimed === null) throw new Error(accepted.kind);
      const { claimed } = accepted;
      const progress = { messages: [record(claimed, 1)], events: [], partialText: 'text' };
      await writes.saveProgress(claimed, progress, at);
      expect(await createLeases(run).renewLeases(LEASE, [claimed.id])).toHaveLength(1);
      await writes.endTurn(claimed, ending({ messages: [record(claimed, 2)], at }));
    };
    const short = await rowsRead(turnOf(filledId(9), 1));
    expect(await rowsRead(turnOf(LONG, 2))).toBeLessThanOrEqual(short + 2);
    expect(short).toBeLessThan(60);
    const created = await rowsRead(() =>
      writes.acceptMessage(acceptance(randomUUID(), { claim: null, busy: 'enqueue' })),
    );
    expect(created).toBeLessThan(10);
    expect(await rowsRead(() => writes.interruptTurns(LONG, 3))).toBeLessThanOrEqual(2);
  });

  it('claims a queued turn of a long thread', async () => {
    const writes = createWrites(run);
    const leases = createLeases(run);
    await runRows(`UPDATE turns SET status = 'interrupted' WHERE status = 'queued'`);
    const claim = async (n: number) => {
      const queued = await writes.acceptMessage(acceptance(LONG, { ifVersion: 2, claim: null, at: n }));
      if (queued.kind !== 'accepted') throw new Error(queued.kind);
      plans = [];
      await leases.readLeases();
      const [turn] = await leases.claimAbandoned(LEASE, [], 10);
      expect(turn?.id).toBe(queued.turn.id);
      if (turn !== undefined) await writes.endTurn(turn, ending({ at: n }));
    };
    expect(await rowsRead(claim)).toBeLessThan(40);
  });

  it('looks at open turns alone', async () => {
    expect(await rowsRead(() => createLeases(run).readLeases())).toBeLessThanOrEqual(2);
    expect(await rowsRead(() => createOverview(run).readOpenTurns(100))).toBeLessThanOrEqual(4 * RUNS);
    expect(await rowsRead(() => createReads(run).countTurns())).toBeLessThanOrEqual(2 * RUNS);
  });

  it('finds nothing to remove without a walk', async () => {
    const { prune } = createRemoval(run, undefined);
    const all = { ...NO_PRUNE, threadsBefore: 1, eventsSince: 10 ** 15 };
    expect(await rowsRead(() => prune(all))).toBeLessThanOrEqual(2);
    expect(await rowsRead(() => createWallet(run).expireWalletRequests(10 ** 15, 10))).toBe(0);
    expect(await createSecrets(run).pruneSecrets(10 ** 15, 10)).toBe(0);
  });

  it('trims the logs that have grown alone', async () => {
    const { prune } = createRemoval(run, undefined);
    const { appendEvents } = createWrites(run);
    const events = Array<EventBody>(80).fill({ type: 'title_changed', title: 'Long' });
    const trim = async (n: number) => {
      await appendEvents(filledId(100 + n), events, 5);
      plans = [];
      await prune({ ...NO_PRUNE, eventsKept: 1, eventsSince: 10 ** 14 });
      const { oldestId, lastId } = await createReads(run).readEvents(filledId(100 + n), 0, 1);
      expect(lastId - oldestId).toBe(0);
    };
    expect(await rowsRead(trim)).toBeLessThan(300);
  });

  it('deletes idle threads in batches', async () => {
    const { prune } = createRemoval(run, undefined);
    const deleted = async (n: number) => {
      const gone = await prune({ ...NO_PRUNE, threadsBefore: FILLED_FROM + n * 40_000, eventsSince: 0 });
      expect(gone.length).toBeGreaterThan(30);
    };
    // About 40 threads, each with 2 turns, 4 messages and an event.
    expect(await rowsRead(deleted)).toBeLessThan(40 * 100);
  });

  async function runRows<R extends object>(sql: string): Promise<R[]> {
    return (await connected().query<R>(sql)).rows;
  }
});
