import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { EventBody } from '../../src/core/model/event.js';
import type { StoredKey } from '../../src/core/ports/store.js';
import {
  change,
  end,
  expectRevision,
  LEASE,
  loaded,
  send,
  sendAndClaim,
  T0,
  type WithStore,
} from './store-fixtures.js';

function notice(message: string): EventBody {
  return { type: 'system_notice', message };
}

/** What the log of events, the system events and the App keys must do. */
export function eventContract(withStore: WithStore): void {
  describe('events', () => {
    it(
      'numbers events without a gap and reads them from any id',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id));
        const bodies: EventBody[] = [
          { type: 'title_changed', title: 'é' },
          { type: 'tool_update', callId: 'c', toolName: 't', message: 'half' },
          { type: 'tool_complete', callId: 'c', toolName: 't', failed: false, result: { a: [1, null] } },
          { type: 'tool_complete', callId: 'd', toolName: 't', failed: true, result: null },
        ];
        const first = await store.appendEvents(id, bodies, T0 + 1);
        expect(first).toEqual({
          revision: 2,
          events: bodies.map((body, index) => ({ id: index + 1, at: T0 + 1, body })),
        });
        await Promise.all(
          Array.from({ length: 20 }, (_, n) => store.appendEvents(id, [notice(String(n))], T0)),
        );
        const all = await store.readEvents(id, 0, 100);
        expect(all.events.map((event) => event.id)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
        expect(all.events.slice(0, 4)).toEqual(first?.events);
        expect(all).toMatchObject({ oldestId: 1, lastId: 24 });
        expect((await store.readEvents(id, 22, 100)).events.map((event) => event.id)).toEqual([23, 24]);
        expect((await store.readEvents(id, 3, 2)).events.map((event) => event.id)).toEqual([4, 5]);
        expect(await store.readEvents(id, 24, 5)).toEqual({ events: [], oldestId: 1, lastId: 24 });
        expect((await store.heads([id])).get(id)).toEqual({ revision: 22, lastEventId: 24 });
      }),
    );

    it(
      'logs nothing for a session that is not stored, and no change for no events',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.appendEvents(id, [notice('m')], T0)).toBeUndefined();
        expect(await store.readEvents(id, 0, 5)).toEqual({ events: [], oldestId: 1, lastId: 0 });
        await store.saveSession(change(id));
        await expectRevision(store, id, 0, () => store.appendEvents(id, [], T0));
        expect(await store.readEvents(id, 0, 5)).toEqual({ events: [], oldestId: 1, lastId: 0 });
      }),
    );
  });

  describe('system events', () => {
    it(
      'reads errors and notices in the order in which they happened, the last ones',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await store.appendEvents(id, [notice('first')], T0);
        await store.saveProgress(turn, { messages: [], events: [notice('second')], partialText: '' }, T0);
        await end(store, turn, { outcome: 'failed', error: 'third' });
        await store.saveSession(
          change(id, { events: [notice('fourth'), { type: 'title_changed', title: 't' }] }),
        );
        const all = [
          { kind: 'SystemNotice', text: 'first' },
          { kind: 'SystemNotice', text: 'second' },
          { kind: 'SystemError', text: 'third' },
          { kind: 'SystemNotice', text: 'fourth' },
        ];
        expect(await store.readSystemEvents(id, 10)).toEqual(all);
        expect(await store.readSystemEvents(id, 2)).toEqual(all.slice(2));
        expect(await store.readSystemEvents(id, 0)).toEqual([]);
        expect(await store.readSystemEvents(randomUUID(), 5)).toEqual([]);
      }),
    );

    it(
      'hands out a fault until it was shown, without counting a revision',
      withStore(async (store) => {
        const id = randomUUID();
        for (const error of ['one', 'two']) {
          await end(store, await sendAndClaim(store, id), { outcome: 'interrupted', error });
        }
        const { faults } = await loaded(store, id);
        expect(faults.map(({ text }) => text)).toEqual(['one', 'two']);
        const [one, two] = faults.map(({ n }) => n);
        if (one === undefined || two === undefined) throw new Error('there are no faults');
        expect(two).toBeGreaterThan(one);
        await expectRevision(store, id, 0, () => store.markFaultsShown(id, one));
        expect((await loaded(store, id)).faults).toEqual([{ n: two, kind: 'SystemError', text: 'two' }]);
        await store.markFaultsShown(id, two);
        await store.markFaultsShown(id, one);
        expect((await loaded(store, id)).faults).toEqual([]);
        expect(await store.readSystemEvents(id, 5)).toHaveLength(2);
        await store.markFaultsShown(randomUUID(), 3);
      }),
    );

    it(
      'lets one at a time carry the faults, until they were shown or the claim is over',
      withStore(async (store) => {
        const id = randomUUID();
        const other = { ...LEASE, owner: 'node-b' };
        expect(await store.claimFaults(id, LEASE, null)).toEqual({ faults: [], shown: 0, held: null });
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'one' });
        const n = (await loaded(store, id)).faults[0]?.n ?? 0;
        const one = { faults: [{ n, kind: 'SystemError', text: 'one' }], shown: 0, held: null };
        const none = { faults: [], shown: 0, held: expect.any(String) };
        await expectRevision(store, id, 0, async () => {
          const claims = await Promise.all([
            store.claimFaults(id, LEASE, null),
            store.claimFaults(id, other, null),
          ]);
          expect(claims).toEqual(expect.arrayContaining([one, none]));
          const [has, waits] = claims[0].faults.length === 1 ? [LEASE, other] : [other, LEASE];
          // Their owner may ask again; no other process ends it.
          expect(await store.claimFaults(id, has, null)).toEqual(one);
          await store.releaseFaults(id, waits.owner);
          expect(await store.claimFaults(id, waits, null)).toEqual(none);
          await store.releaseFaults(id, has.owner);
          expect(await store.claimFaults(id, { ...waits, milliseconds: -1 }, null)).toEqual(one);
          expect(await store.claimFaults(id, has, null)).toEqual(one);
          await store.markFaultsShown(id, n);
          expect(await store.claimFaults(id, waits, null)).toMatchObject({ faults: [], shown: n });
          expect(await store.claimFaults(id, has, null)).toMatchObject({ faults: [], shown: n });
        });
        // Shown, but not given back: the next fault waits for that.
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'two' });
        const all = await Promise.all([
          store.claimFaults(id, LEASE, null),
          store.claimFaults(id, other, null),
        ]);
        expect(all.map(({ faults }) => faults.length).sort()).toEqual([0, 1]);
        await Promise.all([LEASE, other].map(({ owner }) => store.releaseFaults(id, owner)));
        expect((await store.claimFaults(id, other, null)).faults).toMatchObject([{ text: 'two' }]);
      }),
    );

    it(
      'gives up a claim that its owner does not renew, however far ahead its end is, when a caller has found it lost',
      withStore(async (store) => {
        const id = randomUUID();
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'one' });
        await store.claimFaults(id, { owner: 'dead', milliseconds: 3_600_000 }, null);
        const { held } = await store.claimFaults(id, LEASE, null);
        expect(held).not.toBeNull();
        // The owner lives: a renewal makes another claim of it.
        await store.claimFaults(id, { owner: 'dead', milliseconds: 3_700_000 }, null);
        const renewed = await store.claimFaults(id, LEASE, held);
        expect(renewed).toMatchObject({ faults: [], held: expect.any(String) });
        expect(renewed.held).not.toBe(held);
        const taken = await store.claimFaults(id, LEASE, renewed.held);
        expect(taken).toMatchObject({ faults: [{ text: 'one' }], held: null });
        expect(await store.claimFaults(id, { ...LEASE, owner: 'dead' }, null)).toMatchObject({ faults: [] });
      }),
    );

    it(
      'gives a session that came back no claim of its earlier life',
      withStore(async (store) => {
        const id = randomUUID();
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'old' });
        expect((await store.claimFaults(id, LEASE, null)).faults).toHaveLength(1);
        await store.deleteSession(id, T0);
        expect((await store.claimFaults(id, LEASE, null)).faults).toEqual([]);
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'new' });
        const claimed = await store.claimFaults(id, { ...LEASE, owner: 'node-b' }, null);
        expect(claimed.faults).toMatchObject([{ text: 'new' }]);
      }),
    );

    it(
      'does not take the faults of a session that came back for shown ones',
      withStore(async (store) => {
        const id = randomUUID();
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'old' });
        const shown = (await loaded(store, id)).faults.at(-1)?.n ?? 0;
        await store.markFaultsShown(id, shown);
        await store.deleteSession(id, T0);
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'new' });
        expect((await loaded(store, id)).faults).toMatchObject([{ text: 'new' }]);
        // Somebody who still has the old number must not hide the new fault.
        await store.markFaultsShown(id, shown);
        expect((await loaded(store, id)).faults).toMatchObject([{ text: 'new' }]);
      }),
    );
  });

  describe('App keys', () => {
    const key: StoredKey = {
      ...{ id: 'k1', digest: 'd1', apps: ['shop', 'ünï'], label: 'a label', createdAt: T0 },
      ...{ expiresAt: T0 + 5, revokedAt: null },
    };

    it(
      'keeps, finds, lists and revokes them',
      withStore(async (store) => {
        const other = { ...key, id: 'k0', digest: 'd0', createdAt: T0 + 1, expiresAt: null };
        await store.saveKey(other);
        await store.saveKey(key);
        expect(await store.findKey('d1')).toEqual(key);
        expect(await store.findKey('d2')).toBeUndefined();
        expect(await store.listKeys()).toEqual([key, other]);
        expect(await store.revokeKey('k1', T0 + 9)).toBe(true);
        expect(await store.revokeKey('k1', T0 + 10)).toBe(true);
        expect(await store.revokeKey('k2', T0)).toBe(false);
        expect(await store.findKey('d1')).toEqual({ ...key, revokedAt: T0 + 9 });
        await store.saveKey({ ...key, label: 'another' });
        expect(await store.findKey('d1')).toEqual({ ...key, label: 'another' });
      }),
    );

    it(
      'keeps them when sessions go',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id);
        await store.saveKey(key);
        await store.deleteSession(id, T0);
        expect(await store.listKeys()).toHaveLength(1);
      }),
    );
  });
}
