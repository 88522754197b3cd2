import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { openSqliteStore, type SqliteStore } from '../../src/adapters/stores/sqlite/store.js';
import type { Store } from '../../src/core/ports/store.js';
import type { Message } from '../../src/core/model/message.js';
import { NO_USAGE } from '../../src/core/model/turn.js';
import { ROOT } from '../support/server-process.js';

const WORKER = new URL(`file://${join(ROOT, 'dist/adapters/stores/sqlite/writer/worker.js')}`);
/** How many steps are asked for at once, so that they share commits. */
const AT_ONCE = 500;
const LEASE = { owner: 'seed', milliseconds: 60_000 };

/** Fills the database of a folder by the product's own store, before a server is started on it. */
export async function seed(folder: string, fill: (store: SqliteStore) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ path: join(folder, 'data', 'diptych.db'), worker: WORKER });
  try {
    await fill(store);
  } finally {
    await store.close();
  }
}

/** A thread of so many messages of 400 characters, a user's and an answer in turn. */
export async function seedThread(store: Store, id: string, messages: number): Promise<void> {
  for (let n = 0; n < messages / 2; n++) await seedTurn(store, id, n);
  await store.saveSession({ ...change(id), set: { title: 'A seeded thread', titleSource: 'person' } });
}

/** So many messages in threads of a hundred. */
export async function seedMessages(store: SqliteStore, messages: number): Promise<void> {
  const threads = Array.from({ length: Math.ceil(messages / 100) }, () => randomUUID());
  await inGroups(threads, 100, (id) => seedThread(store, id, 100));
}

/** So many threads of a wallet, each with a title and without messages. */
export async function seedWallet(store: SqliteStore, wallet: string, threads: number): Promise<void> {
  const numbers = Array.from({ length: threads }, (_, n) => n);
  await inGroups(numbers, AT_ONCE, async (n) => {
    const set = { wallet, title: `Thread number ${String(n)}`, titleSource: 'person' } as const;
    await store.saveSession({ ...change(randomUUID()), set, at: Date.now() - n * 1000 });
  });
}

function change(id: string) {
  return { id, ifMissing: 'create', events: [], isActivity: true, at: Date.now() } as const;
}

async function seedTurn(store: Store, sessionId: string, n: number): Promise<void> {
  const at = Date.now();
  const accepted = await store.acceptMessage({
    ...{ sessionId, ifVersion: n === 0 ? 0 : 1, set: n === 0 ? { app: 'default' } : {}, text: text(n) },
    ...{ messageId: randomUUID(), turnId: randomUUID(), app: 'default', clientId: null, keyId: null },
    ...{
      quotas: [],
      idempotency: null,
      busy: 'enqueue',
      maxQueued: 50,
      maxSessionBytes: 33_554_432,
      claim: LEASE,
      at,
    },
  });
  if (accepted.kind !== 'accepted' || accepted.claimed === null)
    throw new Error(`not seeded: ${accepted.kind}`);
  const { claimed } = accepted;
  const reply: Message = {
    ...{ id: randomUUID(), turnId: claimed.id, turnNo: claimed.no, position: 1, role: 'assistant' },
    ...{ content: text(n), toolCalls: null, toolResults: null, createdAt: at },
  };
  await store.endTurn(claimed, {
    ...{ outcome: 'complete', messages: [reply], events: [], error: null, rig: 'scripted', usage: NO_USAGE },
    ...{ shownTokens: 0, uses: [], claimNext: null, at },
  });
}

function text(n: number): string {
  return `Message ${String(n)} `.padEnd(400, 'abcdefghi ');
}

async function inGroups<T>(
  items: readonly T[],
  size: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += size)
    await Promise.all(items.slice(from, from + size).map(act));
}
