import { expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { findTexts } from '../../../src/core/operations/message-search.js';
import type { Clock } from '../../../src/core/ports/clock.js';
import { send, T0 } from '../../contracts/store-fixtures.js';
import { createMemoryStore } from '../../support/memory-store/store.js';

/** Its time stands still: a slow machine would stop a search before the test means it to. Pauses are real. */
const still: Clock = { ...systemClock, monotonic: () => 0 };

/** A store with sessions of one message each, and how many of them were searched. */
async function storeWith(texts: readonly string[]) {
  const store = createMemoryStore();
  const searched: string[] = [];
  for (const [n, text] of texts.entries()) await send(store, uuid(), { text, at: T0 + n });
  const counting: typeof store = {
    ...store,
    readMessages(id, page) {
      searched.push(id);
      return store.readMessages(id, page);
    },
  };
  return { store: counting, searched };
}

it('a search in messages stops after 1,000 sessions, and continues behind them', async () => {
  const { store, searched } = await storeWith(['the oldest has it', ...Array<string>(1_200).fill('hay')]);
  const first = await findTexts('oldest', { store, clock: still, limit: 10, after: null });
  expect([first.found, searched.length]).toEqual([[], 1_000]);
  const second = await findTexts('oldest', { store, clock: still, limit: 10, after: first.next });
  expect(second).toMatchObject({ found: [{ excerpt: 'the oldest has it' }], next: null });
  expect(new Set(searched).size).toBe(1_201);
});

it('a search in messages reads a thread of long messages in pages', async () => {
  const { store, searched } = await storeWith([]);
  const id = uuid();
  for (const text of ['needle 1', 'needle 2', ...Array<string>(3).fill('x'.repeat(600_000))])
    await send(store, id, { text });
  const { found } = await findTexts('needle', { store, clock: still, limit: 10, after: null });
  expect([found.map(({ excerpt }) => excerpt), searched.length]).toEqual([['needle 2'], 2]);
});

it('a search in messages stops after two seconds', async () => {
  const { store, searched } = await storeWith(Array<string>(100).fill('hay'));
  let looks = 0;
  // Half a second passes between two looks at the clock.
  const clock: Clock = { ...systemClock, monotonic: () => looks++ * 500 };
  const { found, next } = await findTexts('needle', { store, clock, limit: 10, after: null });
  expect([found, searched.length]).toEqual([[], 4]);
  expect(next).not.toBeNull();
});
