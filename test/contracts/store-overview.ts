import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Quota, Use } from '../../src/core/model/quota.js';
import { change, end, send, sendAndClaim, T0, type WithStore } from './store-fixtures.js';

/** What an operator's view reads. */
export function overviewContract(withStore: WithStore): void {
  describe('overview', () => {
    it(
      'shows the turns that run and wait, oldest first, and none that have ended or were deleted',
      withStore(async (store) => {
        const [one, two, ended, deleted] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
        const running = await sendAndClaim(store, two, { at: T0 + 1, app: 'desk', keyId: 'k1' });
        const queued = await send(store, two, { at: T0 + 3 });
        const waiting = await send(store, one, { at: T0 + 2 });
        await end(store, await sendAndClaim(store, ended));
        await send(store, deleted);
        await store.deleteSession(deleted, T0);
        const open = await store.readOpenTurns(10);
        expect(open).toEqual([
          {
            ...{ turnId: running.id, sessionId: two, status: 'running', app: 'desk', keyId: 'k1' },
            ...{ attempt: 1, createdAt: T0 + 1 },
          },
          expect.objectContaining({ turnId: waiting.turn.id, sessionId: one, status: 'queued', attempt: 0 }),
          expect.objectContaining({ turnId: queued.turn.id, sessionId: two, keyId: null }),
        ]);
        expect(await store.readOpenTurns(1)).toEqual([open[0]]);
      }),
    );

    it(
      'counts the sessions that were active since, up to a bound',
      withStore(async (store) => {
        for (const at of [T0, T0 + 1, T0 + 2]) {
          await store.saveSession(change(randomUUID(), { at, isActivity: true }));
        }
        const gone = randomUUID();
        await store.saveSession(change(gone, { at: T0 + 3, isActivity: true }));
        await store.deleteSession(gone, T0 + 4);
        expect(await store.countSessions(T0 + 1, 100)).toBe(2);
        expect(await store.countSessions(0, 100)).toBe(3);
        expect(await store.countSessions(0, 2)).toBe(2);
        expect(await store.countSessions(T0 + 5, 100)).toBe(0);
      }),
    );

    it(
      'shows what sessions and keys have used, the most first, since a time',
      withStore(async (store) => {
        const quota = (subject: string, from: number): Quota => ({
          ...{ subject, from, measure: 'requests', milliseconds: 60_000, limit: 100 },
        });
        await store.countRequest([quota('session:a', T0), quota('key:b', T0), quota('nonce:c', T0)]);
        await store.countRequest([quota('key:b', T0), quota('key:old', T0 - 1)]);
        const turn = await sendAndClaim(store, randomUUID());
        const tokens = (amount: number): Use => ({
          ...{ subject: 'key:b', measure: 'tokens', from: T0, amount },
        });
        await end(store, turn, { uses: [tokens(70), tokens(7)] });
        expect(await store.readUses(T0, 10)).toEqual([
          { subject: 'key:b', measure: 'tokens', from: T0, amount: 77 },
          { subject: 'key:b', measure: 'requests', from: T0, amount: 2 },
          { subject: 'session:a', measure: 'requests', from: T0, amount: 1 },
        ]);
        expect(await store.readUses(T0, 1)).toHaveLength(1);
      }),
    );
  });
}
