import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Store } from '../../src/core/ports/store.js';
import type { StoredThread, ThreadPart } from '../../src/core/ports/stored-thread.js';
import { change, end, loaded, record, send, sendAndClaim, T0, type WithStore } from './store-fixtures.js';

/** Stores a session of five ended turns, with an answer each: the contents are `q1`, `a1` and so on. */
async function conversation(store: Store, id: string): Promise<void> {
  for (let no = 1; no <= 5; no++) {
    const turn = await sendAndClaim(store, id, { text: `q${String(no)}` });
    await end(store, turn, { messages: [record(turn, 1, { content: `a${String(no)}` })] });
  }
}

async function partOf(store: Store, id: string, part: ThreadPart): Promise<StoredThread> {
  const thread = await store.loadThread(id, part);
  if (typeof thread === 'string') throw new Error(`the session is ${thread}`);
  return thread;
}

function settledOf({ settled }: StoredThread): string[] {
  return settled.map(({ content }) => content);
}

/** Reading a part of a thread. */
export function partContract(withStore: WithStore): void {
  describe('a part of a thread', () => {
    it(
      'has the newest records of ended turns, the open turns, and how much comes before',
      withStore(async (store) => {
        const id = randomUUID();
        await conversation(store, id);
        expect(await loaded(store, id)).toMatchObject({
          settled: { length: 10 },
          skipped: 0,
          continues: false,
        });
        const newest = await partOf(store, id, { newest: 3 });
        expect([settledOf(newest), newest.skipped]).toEqual([['a4', 'q5', 'a5'], 7]);
        const all = await partOf(store, id, { newest: 10 });
        expect([settledOf(all).length, all.skipped, all.continues]).toEqual([10, 0, false]);

        await sendAndClaim(store, id, { text: 'running' });
        await send(store, id, { text: 'queued' });
        const open = await partOf(store, id, { newest: 4 });
        expect(settledOf(open).at(-1)).toBe('a5');
        expect(open.skipped).toBe(10 - open.settled.length);
        expect(open.open.map(({ messages }) => messages[0]?.content)).toEqual(['running', 'queued']);
      }),
    );

    it(
      'has the records of the turns after the turn of a record',
      withStore(async (store) => {
        const id = randomUUID();
        await conversation(store, id);
        const { settled } = await loaded(store, id);
        const third = settled.find(({ content }) => content === 'a3') ?? { id: '', turnNo: 0 };
        const after = await partOf(store, id, { after: third });
        expect([settledOf(after), after.skipped, after.continues]).toEqual([
          ['q4', 'a4', 'q5', 'a5'],
          6,
          true,
        ]);
        const last = settled.at(-1) ?? third;
        expect(await partOf(store, id, { after: last })).toMatchObject({
          settled: [],
          skipped: 10,
          continues: true,
        });
        await sendAndClaim(store, id, { text: 'running' });
        const open = await partOf(store, id, { after: last });
        expect([open.settled.length, open.open.length, open.skipped]).toEqual([0, 1, 10]);
      }),
    );

    it(
      'counts the records before it that state why a turn failed, and no other system records',
      withStore(async (store) => {
        const id = randomUUID();
        const fail = async () => {
          const turn = await sendAndClaim(store, id);
          await end(store, turn, {
            messages: [record(turn, 1), record(turn, 2, { role: 'system', content: 'It failed.' })],
            ...{ outcome: 'failed', error: 'It failed.' },
          });
        };
        await fail();
        const ids = { sessionId: id, messageId: randomUUID(), turnId: randomUUID() };
        await store.addNote({ ...ids, text: 'noted', app: 'default', maxSessionBytes: 1_000, at: T0 });
        await fail();
        const reporting = await sendAndClaim(store, id);
        const report = record(reporting, 1, { role: 'system', origin: 'wallet', content: 'confirmed' });
        await end(store, reporting, { messages: [report] });
        expect(await store.loadTail(id, 1)).toMatchObject({ messages: { length: 1 }, failures: 2 });
        for (const [newest, skippedFailures] of [
          [2, 2],
          [4, 1],
          [20, 0],
        ] as const)
          expect(await partOf(store, id, { newest })).toMatchObject({ skippedFailures });
        expect((await loaded(store, id)).skippedFailures).toBe(0);
        await store.deleteSession(id, T0);
        await send(store, id, { text: 'again' });
        expect(await store.loadTail(id, 1)).toMatchObject({ shown: 1, failures: 0 });
      }),
    );

    it(
      'is the whole thread if the session has no such record, also after it was made again',
      withStore(async (store) => {
        const id = randomUUID();
        await conversation(store, id);
        const { settled } = await loaded(store, id);
        const after = settled.at(-1) ?? { id: '', turnNo: 0 };
        await store.deleteSession(id, T0);
        expect(await store.loadThread(id, { after })).toBe('deleted');
        expect(await store.loadThread(randomUUID(), { newest: 1 })).toBe('unknown');
        await conversation(store, id);
        const again = await partOf(store, id, { after });
        expect([again.settled.length, again.skipped, again.continues]).toEqual([10, 0, false]);
        const empty = randomUUID();
        await store.saveSession(change(empty));
        expect(await partOf(store, empty, { newest: 5 })).toMatchObject({ settled: [], skipped: 0 });
      }),
    );
  });
}
