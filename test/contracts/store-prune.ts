import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { EventBody, SystemEvent } from '../../src/core/model/event.js';
import type { Prune } from '../../src/core/ports/store.js';
import {
  acceptance,
  change,
  end,
  loaded,
  NO_PRUNE,
  send,
  sendAndClaim,
  T0,
  type WithStore,
} from './store-fixtures.js';

function prune(over: Partial<Prune> = {}): Prune {
  return { ...NO_PRUNE, ...over };
}

function notices(count: number): EventBody[] {
  return Array.from({ length: count }, (_, n) => ({ type: 'system_notice', message: String(n) }));
}

/** What housekeeping must do. */
export function pruneContract(withStore: WithStore): void {
  describe('pruning', () => {
    it(
      'removes events that are both beyond the number kept and older than the time kept',
      withStore(async (store) => {
        const logged = async (): Promise<string> => {
          const id = randomUUID();
          await store.saveSession(change(id, { events: notices(100), at: T0 }));
          await store.appendEvents(id, notices(50), T0 + 10);
          return id;
        };
        const oldest = async (id: string) => (await store.readEvents(id, 0, 1)).oldestId;

        const first = await logged();
        await store.prune(prune({ eventsKept: 80, eventsSince: T0 }));
        expect(await oldest(first)).toBe(1);
        await store.prune(prune({ eventsKept: 80, eventsSince: T0 + 5 }));
        expect(await oldest(first)).toBe(71);
        const second = await logged();
        await store.prune(prune({ eventsKept: 20, eventsSince: T0 + 5 }));
        expect(await oldest(second)).toBe(101);
        const third = await logged();
        await store.prune(prune({ eventsKept: 0, eventsSince: T0 + 50 }));
        expect(await store.readEvents(third, 0, 100)).toEqual({ events: [], oldestId: 151, lastId: 150 });
        const next = await store.appendEvents(third, notices(1), T0);
        expect(next?.events[0]?.id).toBe(151);
      }),
    );

    it(
      'trims a log again that has grown since, and one that was not old enough before',
      withStore(async (store) => {
        const id = randomUUID();
        const oldest = async () => (await store.readEvents(id, 0, 1)).oldestId;
        await store.saveSession(change(id, { events: notices(64), at: T0 }));
        await store.prune(prune({ eventsKept: 10, eventsSince: T0 + 1 }));
        expect(await oldest()).toBe(55);
        for (let n = 0; n < 64; n++) await store.appendEvents(id, notices(1), T0 + 10);
        await store.prune(prune({ eventsKept: 10, eventsSince: T0 + 5 }));
        expect(await oldest()).toBe(65);
        await store.prune(prune({ eventsKept: 10, eventsSince: T0 + 11 }));
        expect(await oldest()).toBe(119);
      }),
    );

    it(
      'removes many events of many sessions',
      withStore(async (store) => {
        const ids = Array.from({ length: 3 }, () => randomUUID());
        for (const id of ids) await store.saveSession(change(id, { events: notices(2500) }));
        await store.prune(prune({ eventsKept: 10, eventsSince: T0 + 1 }));
        for (const id of ids) {
          const { events, oldestId } = await store.readEvents(id, 0, 100);
          expect({ count: events.length, oldestId }).toEqual({ count: 10, oldestId: 2491 });
        }
      }),
    );

    it(
      'keeps a fault until it was shown, and does not reuse its number for the next one',
      withStore(async (store) => {
        const id = randomUUID();
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'it broke' });
        await store.appendEvents(id, notices(64), T0);
        const all = (eventsSince: number) => store.prune(prune({ eventsKept: 0, eventsSince }));
        await all(T0 + 1);
        const fault: SystemEvent = { kind: 'SystemError', text: 'it broke' };
        expect(await store.readSystemEvents(id, 9)).toEqual([fault]);
        await store.markFaultsShown(id, (await loaded(store, id)).faults[0]?.n ?? 0);
        await all(T0 + 2);
        expect(await store.readSystemEvents(id, 9)).toEqual([]);
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'again' });
        expect((await loaded(store, id)).faults).toMatchObject([{ text: 'again' }]);
      }),
    );

    it(
      'deletes threads without activity, unless a turn is open or nobody asked',
      withStore(async (store) => {
        const [old, busy, queued, young] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
        await store.saveSession(change(old, { set: { wallet: 'w' } }));
        await sendAndClaim(store, busy);
        await send(store, queued);
        await store.saveSession(change(young, { at: T0 + 10 }));
        expect(await store.prune(prune())).toEqual([]);
        expect(await store.prune(prune({ threadsBefore: T0 }))).toEqual([]);
        expect(await store.prune(prune({ threadsBefore: T0 + 10 }))).toEqual([old]);
        expect(await store.loadThread(old)).toBe('deleted');
        expect(await store.listThreads('w', { limit: 5, after: null })).toEqual([]);
        for (const id of [busy, queued, young]) expect(await store.revisionOf(id)).toBe(1);
        expect(await store.prune(prune({ threadsBefore: T0 + 10 }))).toEqual([]);
      }),
    );

    it(
      'deletes many threads',
      withStore(async (store) => {
        const ids = Array.from({ length: 90 }, () => randomUUID());
        await Promise.all(ids.map((id) => store.saveSession(change(id))));
        const deleted = await store.prune(prune({ threadsBefore: T0 + 1 }));
        expect([...deleted].sort()).toEqual([...ids].sort());
        expect(await store.listSessions({ limit: 5, after: null })).toEqual([]);
      }),
    );

    it(
      'deletes nothing once it is stopped',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id));
        const idle = prune({ threadsBefore: T0 + 1 });
        expect(await store.prune(idle, AbortSignal.abort())).toEqual([]);
        expect(await store.revisionOf(id)).toBe(1);
        expect(await store.prune(idle, new AbortController().signal)).toEqual([id]);
      }),
    );

    it(
      'forgets old idempotency keys',
      withStore(async (store) => {
        const id = randomUUID();
        const key = (name: string) => ({ key: name, fingerprint: name, notBefore: 0 });
        await send(store, id, { idempotency: key('old'), at: T0 });
        await send(store, id, { idempotency: key('new'), at: T0 + 10 });
        await store.prune(prune({ idempotencyBefore: T0 + 5 }));
        const again = (name: string) =>
          store.acceptMessage(acceptance(id, { ifVersion: 1, idempotency: key(name) }));
        expect(await again('new')).toMatchObject({ kind: 'repeated' });
        expect(await again('old')).toMatchObject({ kind: 'accepted' });
      }),
    );
  });
}
