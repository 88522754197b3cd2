import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMemoryBus } from '../../src/adapters/bus/memory/bus.js';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import { NO_LIMITS } from '../../src/core/model/quota.js';
import type { Rig } from '../../src/core/ports/rig.js';
import type { Store } from '../../src/core/ports/store.js';
import type { RunningCore } from '../../src/core/create-core.js';
import { closeTestCores, created, message, testCore } from '../support/core.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { openTestSqlite } from '../support/sqlite.js';

const ROUNDS = 20;
const TOKENS = 100;

/** A rig that responds immediately, and counts the requests of each session. */
function countingRig() {
  const requests = new Map<string, number>();
  const rig: Rig = {
    ...{ id: 'counting', name: 'Counting', provider: 'test', contextTokens: 100_000 },
    respond: ({ purpose, sessionId = '' }, _signal, take) => {
      if (purpose === 'answer') requests.set(sessionId, (requests.get(sessionId) ?? 0) + 1);
      take({ type: 'text', text: 'Hello' });
      take({ type: 'end', usage: { inputTokens: TOKENS - 10, outputTokens: 10 } });
      return Promise.resolve();
    },
    attachedTokens: () => 0,
    check: () => Promise.resolve(undefined),
  };
  return { rig, requests };
}

/** Starts a node for each store. They share a bus. */
async function started(stores: readonly Store[]) {
  const { rig, requests } = countingRig();
  const bus = createMemoryBus();
  const limits = { session: { ...NO_LIMITS, tokensPerDay: 1_000_000 }, key: NO_LIMITS };
  const settings = { mirrorMs: 0, limits };
  const cores = stores.map((store) => testCore({ rigs: [rig], store, bus, settings }).core);
  await Promise.all(cores.map((core) => core.start()));
  return { cores, requests };
}

/** Sends a message and waits for the end of its turn. Returns 1 if it was accepted. */
async function sendTo(core: RunningCore, id: string): Promise<number> {
  await core.turnEnded(await core.send(message(id, 'Hi')), new AbortController().signal);
  return 1;
}

async function countedTokens(store: Store): Promise<Map<string, number>> {
  const uses = (await store.readUses(0, 10_000)).filter(({ measure }) => measure === 'tokens');
  return new Map(uses.map(({ subject, amount }) => [subject.replace('session:', ''), amount]));
}

afterEach(closeTestCores);

function raceTests(open: () => Promise<readonly [Store, Store]>): void {
  /** Runs rounds concurrently, each with a session of its own. */
  async function race(
    round: (id: string, nodes: readonly [RunningCore, RunningCore]) => readonly Promise<unknown>[],
  ) {
    const stores = await open();
    const { cores, requests } = await started(stores);
    const [first, second] = cores;
    if (first === undefined || second === undefined) throw new Error('there are no nodes');
    const ids = Array.from({ length: ROUNDS }, () => randomUUID());
    const results = await Promise.all(ids.map((id) => Promise.all(round(id, [first, second]))));
    await Promise.all(cores.map((core) => core.drain(60_000)));
    const [store] = stores;
    expect(await store.countTurns()).toEqual({ queued: 0, running: 0 });
    expect([...(await countedTokens(store))].sort()).toEqual(
      [...requests].map(([id, count]) => [id, count * TOKENS]).sort(),
    );
    return { store, ids, results, requests };
  }

  it('ends each turn once when messages and interrupts arrive on both nodes at once', async () => {
    const { store, ids, requests } = await race((id, [one, other]) => [
      sendTo(one, id),
      sendTo(other, id),
      one.interrupt(created(id)),
      sendTo(one, id),
      other.interrupt(created(id)),
      sendTo(other, id),
    ]);
    for (const id of ids) {
      const turns = await store.readTurns(id, { from: 1, to: 100 });
      expect(turns).toHaveLength(4);
      const tokens = turns.map(({ usage }) => usage.inputTokens + usage.outputTokens);
      expect(tokens.reduce((sum, more) => sum + more, 0)).toBe((requests.get(id) ?? 0) * TOKENS);
      const { messages } = await readAll(store, id);
      expect(messages.filter(({ role }) => role === 'user')).toHaveLength(4);
      const places = messages.map(({ turnNo, position }) => turnNo * 1_000 + position);
      expect(places).toEqual([...places].sort((a, b) => a - b));
    }
  });

  it('leaves no turn and loses no tokens when sessions are deleted during their turns', async () => {
    const { store, ids } = await race((id, [one, other]) => [
      sendTo(one, id).then(() => sendTo(other, id)),
      sendTo(other, id),
      sendTo(one, id).then(() => other.deleteSession(id).catch(() => undefined)),
      one.interrupt(created(id)),
      sendTo(one, id),
    ]);
    for (const id of ids) {
      const thread = await store.loadThread(id);
      if (typeof thread !== 'string') expect(thread.open).toEqual([]);
    }
  });

  it('hands over turns at a drain, and another node ends each of them', async () => {
    const [one, other] = await open();
    const { cores, requests } = await started([one]);
    const [leaving] = cores;
    if (leaving === undefined) throw new Error('there is no node');
    const ids = Array.from({ length: ROUNDS }, () => randomUUID());
    const sent = await Promise.all(
      ids.flatMap((id) => [leaving.send(message(id, 'Hi')), leaving.send(message(id, 'And?'))]),
    );
    const successor = await started([other]);
    await leaving.drain(0);
    const [next] = successor.cores;
    if (next === undefined) throw new Error('there is no node');
    await Promise.all(sent.map((one) => next.turnEnded(one, new AbortController().signal)));
    await next.drain(60_000);
    expect(await other.countTurns()).toEqual({ queued: 0, running: 0 });
    const counted = await countedTokens(other);
    for (const id of ids) {
      const all = (requests.get(id) ?? 0) + (successor.requests.get(id) ?? 0);
      expect(counted.get(id)).toBe(all * TOKENS);
      const turns = await other.readTurns(id, { from: 1, to: 9 });
      expect(turns.map(({ status }) => status)).toEqual(['complete', 'complete']);
    }
  });
}

async function readAll(store: Store, id: string) {
  const page = await store.readMessages(id, { limit: 1_000, before: null });
  if (page === 'unknown_message') throw new Error('there is no such message');
  return page;
}

describe('turns on SQLite', () => {
  const opened: Store[] = [];
  afterEach(async () => {
    await closeTestCores();
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  raceTests(async () => {
    const store = await openTestSqlite();
    opened.push(store);
    return [store, store];
  });
});

describeWithPostgres('turns on two nodes that share a PostgreSQL database', () => {
  const database = testDatabase();
  const opened: Store[] = [];
  afterEach(async () => {
    await closeTestCores();
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  raceTests(async () => {
    const url = await database.newUrl();
    const stores = [
      await openPostgresStore({ url, poolSize: 4 }),
      await openPostgresStore({ url, poolSize: 4 }),
    ] as const;
    opened.push(...stores);
    return stores;
  });
});
