import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMemoryStore } from '../support/memory-store/store.js';
import type { ThreadSummary } from '../../src/core/model/session.js';
import type { Store } from '../../src/core/ports/store.js';
import { change, T0 } from '../contracts/store-fixtures.js';
import { objectOf, openHouse, type House } from '../support/house.js';

const WALLET = 'a-wallet-with-many-threads';
const OWN = randomUUID();

let store: Store;
let house: House;
/** What is done after each page of threads that is read. */
let afterPage: () => Promise<unknown>;

/** Threads of the wallet beside its own, the newest first. */
function others(count: number): ThreadSummary[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ id: `6f1ff4a2-1f0a-4a53-9a3c-${String(n).padStart(12, '0')}`, title: `thread ${String(n)}` },
    ...{ archived: false, createdAt: T0, activeAt: T0 + 1_000_000 - n },
  }));
}

beforeEach(async () => {
  const memory = createMemoryStore();
  afterPage = () => Promise.resolve();
  store = {
    ...memory,
    async listThreads(wallet, page) {
      const found = await memory.listThreads(wallet, page);
      await afterPage();
      return found;
    },
  };
  house = await openHouse({ store, surfaces: ['legacy'] });
  await store.saveSession(change(OWN, { set: { wallet: WALLET } }));
});
afterEach(async () => {
  await house.close();
  await store.close();
});

async function make(count: number): Promise<ThreadSummary[]> {
  const threads = others(count);
  for (const { id, title, activeAt } of threads) {
    await store.saveSession(change(id, { set: { wallet: WALLET, title }, at: activeAt, isActivity: true }));
  }
  return threads;
}

async function listed(): Promise<unknown[]> {
  const { threads } = objectOf((await house.ask('GET', `/api/sessions/${OWN}`)).json);
  if (!Array.isArray(threads)) throw new Error('there are no threads');
  return threads.map((thread) => objectOf(thread).id);
}

describe('the threads of a session on the legacy surface', () => {
  it('are all there, in order, where they are more than a page', async () => {
    const threads = await make(2_500);
    expect(await listed()).toEqual([OWN, ...threads.map(({ id }) => id)]);
  });

  it('are all there when one of them is used while the list is read', async () => {
    const threads = await make(1_500);
    const moved = threads[1_400];
    if (moved === undefined) throw new Error('there are fewer threads');
    let pages = 0;
    afterPage = async () => {
      pages += 1;
      if (pages === 1) await store.saveSession(change(moved.id, { isActivity: true, at: T0 + 2_000_000 }));
    };
    const rest = threads.filter((thread) => thread !== moved).map(({ id }) => id);
    expect(await listed()).toEqual([OWN, moved.id, ...rest]);
  });

  it('are at most 10,000', async () => {
    const threads = others(10_500);
    const page = store.listThreads.bind(store);
    const many: Store = {
      ...store,
      listThreads: (wallet, asked) =>
        wallet === WALLET
          ? Promise.resolve(
              threads
                .filter(({ activeAt }) => activeAt < (asked.after?.activeAt ?? Infinity))
                .slice(0, asked.limit),
            )
          : page(wallet, asked),
    };
    await house.close();
    house = await openHouse({ store: many, surfaces: ['legacy'] });
    const ids = await listed();
    expect(ids).toHaveLength(10_000);
    expect(ids.slice(0, 2)).toEqual([OWN, threads[0]?.id]);
  });
});
