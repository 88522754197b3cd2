import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  MAX_FAILURES,
  type ActivityRow,
  type FailureRow,
  type WorkRow,
} from '../../src/core/ports/overview-store.js';
import { end, NO_PRUNE, sendAndClaim, T0, type WithStore } from './store-fixtures.js';

const DAY = 86_400_000;
const TODAY = T0 - (T0 % DAY);

function minute(fields: Partial<ActivityRow> = {}): ActivityRow {
  return {
    ...{ at: T0, node: 'a', complete: 1, interrupted: 0, failed: 0, inputTokens: 10, outputTokens: 5 },
    ...{ firstText: { 53: 1 }, duration: { 80: 1 } },
    ...fields,
  };
}

function failure(fields: Partial<FailureRow> = {}): FailureRow {
  return {
    ...{ at: T0, turnId: randomUUID(), sessionId: randomUUID(), app: 'desk', rig: 'gpt', reason: 'no model' },
    ...fields,
  };
}

function work(fields: Partial<WorkRow> = {}): WorkRow {
  return {
    ...{ day: TODAY, app: 'desk', keyId: null, turns: 1, inputTokens: 10, outputTokens: 5 },
    ...fields,
  };
}

const NOTHING = { minutes: [], failures: [], work: [] };

/** The history of the operator's view, and its notices. */
export function activityContract(withStore: WithStore): void {
  describe('history', () => {
    it(
      'replaces the minutes of a process and keeps those of others',
      withStore(async (store) => {
        await store.saveActivity(NOTHING);
        expect(await store.readActivity(0)).toEqual([]);
        await store.saveActivity({ ...NOTHING, minutes: [minute(), minute({ at: T0 + 60_000 })] });
        const [again, other] = [minute({ complete: 3, duration: { 80: 2, 90: 1 } }), minute({ node: 'b' })];
        await Promise.all([again, other].map((row) => store.saveActivity({ ...NOTHING, minutes: [row] })));
        expect(await store.readActivity(T0)).toEqual([again, other, minute({ at: T0 + 60_000 })]);
        expect(await store.readActivity(T0 + 1)).toEqual([minute({ at: T0 + 60_000 })]);
      }),
    );

    it(
      'shows failures newest first with the message that the user received, until the session is deleted',
      withStore(async (store) => {
        const session = randomUUID();
        const turn = await sendAndClaim(store, session);
        await end(store, turn, { outcome: 'failed', error: 'The model is on strike' });
        const own = failure({ at: T0 + 2, turnId: turn.id, sessionId: session });
        const [older, bare] = [failure({ reason: null, rig: null }), failure({ at: T0 + 1 })];
        await store.saveActivity({ ...NOTHING, failures: [older, own] });
        await store.saveActivity({ ...NOTHING, failures: [bare, own] });
        expect(await store.readFailures(10)).toEqual([
          { ...own, error: 'The model is on strike' },
          { ...bare, sessionId: null, error: null },
          { ...older, sessionId: null, error: null },
        ]);
        expect(await store.readFailures(1)).toHaveLength(1);
        await store.deleteSession(session, T0 + 3);
        expect((await store.readFailures(1))[0]).toEqual({ ...own, sessionId: null, error: null });
      }),
    );

    it(
      'names no session that was deleted, before or after its failure was stored',
      withStore(async (store) => {
        const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
        for (const id of ids) await end(store, await sendAndClaim(store, id), { outcome: 'failed' });
        const [early, late, kept] = ids.map((sessionId, n) => failure({ at: T0 - n, sessionId }));
        if (early === undefined || late === undefined || kept === undefined) throw new Error('no failures');
        await store.saveActivity({ ...NOTHING, failures: [early] });
        await store.deleteSession(ids[0], T0 + 1);
        await store.deleteSession(ids[1], T0 + 1);
        await store.saveActivity({ ...NOTHING, failures: [late, kept] });
        expect((await store.readFailures(10)).map(({ sessionId }) => sessionId)).toEqual([
          null,
          null,
          ids[2],
        ]);
        // The id is not shown although the session is there again.
        await sendAndClaim(store, ids[0]);
        expect((await store.readFailures(1))[0]).toEqual({ ...early, sessionId: null, error: null });
      }),
    );

    it(
      'keeps a bounded number of failures',
      withStore(async (store) => {
        const many = Array.from({ length: MAX_FAILURES + 20 }, (_, n) => failure({ at: T0 + n }));
        await store.saveActivity({ ...NOTHING, failures: many });
        const kept = await store.readFailures(2 * MAX_FAILURES);
        expect(kept).toHaveLength(MAX_FAILURES);
        expect(kept.at(-1)?.at).toBe(T0 + 20);
        const more = [failure({ at: T0 + MAX_FAILURES + 20 }), failure({ at: T0 + MAX_FAILURES + 21 })];
        await store.saveActivity({ ...NOTHING, failures: more });
        await store.saveActivity({ ...NOTHING, work: [work()] });
        const after = await store.readFailures(2 * MAX_FAILURES);
        expect([after.length, after[0]?.at, after.at(-1)?.at]).toEqual([
          ...[MAX_FAILURES, T0 + MAX_FAILURES + 21, T0 + 22],
        ]);
      }),
    );

    it(
      'adds up work by App and key, also when several processes add at once',
      withStore(async (store) => {
        await store.saveActivity({ ...NOTHING, work: [work({ day: TODAY - DAY, turns: 7 }), work()] });
        await Promise.all(
          [work({ keyId: 'k' }), work({ turns: 2 }), work({ keyId: 'k', inputTokens: 0 })].map((row) =>
            store.saveActivity({ ...NOTHING, work: [row, work({ app: 'web', outputTokens: 1 })] }),
          ),
        );
        expect(await store.readWork(TODAY)).toEqual([
          { app: 'desk', keyId: null, turns: 3, inputTokens: 20, outputTokens: 10 },
          { app: 'web', keyId: null, turns: 3, inputTokens: 30, outputTokens: 3 },
          { app: 'desk', keyId: 'k', turns: 2, inputTokens: 10, outputTokens: 10 },
        ]);
        expect((await store.readWork(0))[0]).toMatchObject({ app: 'desk', keyId: null, turns: 10 });
      }),
    );

    it(
      'is pruned by time',
      withStore(async (store) => {
        const [old, kept] = [minute(), minute({ at: T0 + 60_000 })];
        await store.saveActivity({
          minutes: [old, kept],
          failures: [failure(), failure({ at: T0 + 60_000 })],
          work: [work({ day: TODAY - DAY }), work({ turns: 4 })],
        });
        await store.prune({ ...NO_PRUNE, activityBefore: T0 + 1, usageBefore: TODAY });
        expect(await store.readActivity(0)).toEqual([kept]);
        expect((await store.readFailures(10)).map(({ at }) => at)).toEqual([T0 + 60_000]);
        expect((await store.readWork(0)).map(({ turns }) => turns)).toEqual([4]);
      }),
    );
  });

  describe('notices', () => {
    const claim = { name: 'unused', at: T0, until: T0 + 10, deliveredBefore: null };

    it(
      'are claimed by one process at a time, and again when its claim has expired',
      withStore(async (store) => {
        const claims = await Promise.all(
          ['a', 'b', 'c'].map((owner) => store.claimNotice({ ...claim, owner })),
        );
        expect(claims.filter(Boolean)).toHaveLength(1);
        expect(await store.claimNotice({ ...claim, owner: 'd', at: T0 + 9 })).toBe(false);
        expect(await store.claimNotice({ ...claim, owner: 'd', at: T0 + 10, until: T0 + 20 })).toBe(true);
        expect(await store.claimNotice({ ...claim, name: 'another', owner: 'a' })).toBe(true);
      }),
    );

    it(
      'are delivered once, and again only for a later reason',
      withStore(async (store) => {
        expect(await store.claimNotice({ ...claim, owner: 'a' })).toBe(true);
        await store.settleNotice('unused', 'b', T0 + 1);
        await store.settleNotice('unused', 'a', T0 + 2);
        const later = { ...claim, owner: 'b', at: T0 + 100, until: T0 + 110 };
        expect(await store.claimNotice(later)).toBe(false);
        expect(await store.claimNotice({ ...later, deliveredBefore: T0 + 2 })).toBe(false);
        expect(await store.claimNotice({ ...later, deliveredBefore: T0 + 3 })).toBe(true);
      }),
    );
  });
}
