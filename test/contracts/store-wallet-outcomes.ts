import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../../src/core/model/turn.js';
import { SETTLED_ANOTHER } from '../../src/core/ports/wallet-store.js';
import {
  acceptance,
  change,
  claimFree,
  end,
  expectRevision,
  LEASE,
  loaded,
  send,
  sendAndClaim,
  T0,
  versionOf,
  type WithStore,
} from './store-fixtures.js';
import {
  claimOf,
  DAY,
  hashOf,
  newThread,
  pend,
  pendingIds,
  report,
  reported,
  reportOf,
  request,
  stage,
  states,
  verdict,
} from './wallet-fixtures.js';

/** What stores promise of the outcomes of wallet requests. */
export function walletOutcomeContract(withStore: WithStore): void {
  reportContract(withStore);
  verificationContract(withStore);
  expiryContract(withStore);
}

function reportContract(withStore: WithStore): void {
  describe('reporting the outcome of wallet requests', () => {
    it(
      'stores the claim, empties the pending ones and queues the turn in one step',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {}, {}, {});
        const before = (await loaded(store, id)).session;
        const claim = claimOf(hashOf(7), { error: 'slow 🦑' });
        const asked = reportOf(id, [1, 3], { claim, app: 'shop', clientId: 'c' });
        const outcome = await store.reportWalletOutcome(asked);
        const turn = {
          ...{ id: asked.turnId, sessionId: id, no: 1, app: 'shop', clientId: 'c', keyId: null },
          ...{ status: 'queued', createdAt: T0 + 2, error: null },
        };
        const message = {
          ...{ id: asked.messageId, turnId: asked.turnId, turnNo: 1, position: 0, role: 'system' },
          ...{ origin: 'wallet', content: asked.text, toolCalls: null, toolResults: null, createdAt: T0 + 2 },
        };
        const revision = before.revision + 1;
        const pending = before.pending.filter((one) => one.id === 2);
        const session = { ...before, pending, revision, activeAt: T0 + 2 };
        const commit = { revision, events: [] };
        expect(outcome).toEqual({ kind: 'accepted', session, turn, message, claimed: null, commit });
        const thread = await loaded(store, id);
        expect(thread).toMatchObject({ session, settled: [] });
        expect(thread.open).toEqual([{ turn, messages: [message], partialText: '', partialSince: 0 }]);
        expect(await store.readTurn(id, turn.id)).toEqual({ turn, messages: [message] });
        const told = await store.readWalletRequests(id, { turnId: turn.id });
        expect(told).toMatchObject([
          { id: 1, state: 'reported', claim, turnId: turn.id, verification: null },
          { id: 3, state: 'reported', claim, turnId: turn.id },
        ]);
        expect(await states(store, id)).toEqual(['reported', 'pending', 'reported']);
      }),
    );

    it(
      'claims the turn when nothing else is open, and keeps its record to the end',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {});
        const { claimed, turn, message } = await report(store, id, [1], { claimTurn: LEASE });
        expect(turn.status).toBe('running');
        expect(claimed).toMatchObject({ id: turn.id, owner: LEASE.owner, attempt: 1, status: 'running' });
        if (claimed === null) throw new Error('the turn was not claimed');
        await end(store, claimed);
        expect((await loaded(store, id)).settled).toEqual([message]);
        expect(await store.loadTail(id, 5)).toMatchObject({ messages: [message], shown: 1 });
        const page = await store.readMessages(id, { limit: 5, before: null });
        expect(page).toEqual({ messages: [message], hasMore: false });
        // A record without an origin has none, not an empty one.
        const { message: question } = await send(store, id);
        expect('origin' in question).toBe(false);
        expect((await loaded(store, id)).open[0]?.messages[0]).toEqual(question);
      }),
    );

    it(
      'waits behind running and queued turns',
      withStore(async (store) => {
        const id = randomUUID();
        const running = await sendAndClaim(store, id);
        await pend(store, id, {}, {});
        const first = await report(store, id, [1], { claimTurn: LEASE });
        expect(first).toMatchObject({ claimed: null, turn: { no: 2, status: 'queued' } });
        const { next } = await end(store, running, { claimNext: LEASE });
        expect(next?.id).toBe(first.turn.id);
        if (next === null) throw new Error('the turn was not claimed');
        await end(store, next);
        const queued = await send(store, id);
        const second = await report(store, id, [2], { claimTurn: LEASE });
        expect(second).toMatchObject({ claimed: null, turn: { no: 4 } });
        expect((await claimFree(store, LEASE, 5)).map((turn) => turn.id)).toEqual([queued.turn.id]);
      }),
    );

    it(
      'gives a turn without a client that of the last turn that has one',
      withStore(async (store) => {
        const id = randomUUID();
        const other = await sendAndClaim(store, randomUUID(), { clientId: 'other' });
        await pend(store, other.sessionId, {});
        await send(store, id);
        await pend(store, id, {}, {}, {});
        const clientOf = async (request: number, clientId: string | null) => {
          const { turn } = await report(store, id, [request], { clientId });
          const stored = await store.readTurn(id, turn.id);
          expect(stored?.turn).toEqual(turn);
          return turn.clientId;
        };
        expect(await clientOf(1, null)).toBeNull();
        await send(store, id, { clientId: 'a' });
        await send(store, id, { clientId: 'b' });
        await send(store, id);
        expect(await clientOf(2, null)).toBe('b');
        expect(await clientOf(3, 'c')).toBe('c');
      }),
    );

    it(
      'gives a turn the key of the last turn in its App that has one',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { app: 'shop', keyId: 'a' });
        await pend(store, id, {}, {}, {});
        const keyOf = async (request: number, claimTurn: Lease | null = null) => {
          const { turn } = await report(store, id, [request], { app: 'shop', claimTurn });
          const stored = await store.readTurn(id, turn.id);
          expect(stored?.turn).toEqual(turn);
          return turn.keyId;
        };
        await send(store, id, { app: 'desk', keyId: 'other' });
        await send(store, id, { app: 'shop' });
        expect(await keyOf(1)).toBe('a');
        await send(store, id, { app: 'shop', keyId: 'b' });
        await store.interruptTurns(id, T0 + 2);
        expect(await keyOf(2, LEASE)).toBe('b');
        const other = await newThread(store);
        await pend(store, other, {});
        expect((await report(store, other, [1])).turn.keyId).toBeNull();
      }),
    );

    it(
      'accepts one of several reports that arrive together',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {}, {});
        const all = await Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            store.reportWalletOutcome(
              reportOf(id, n % 2 === 0 ? [1, 2] : [2], { claim: claimOf(hashOf(n)), claimTurn: LEASE }),
            ),
          ),
        );
        expect(all.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
        const { open, session } = await loaded(store, id);
        expect(open).toHaveLength(1);
        const [, second] = await store.readWalletRequests(id, { ids: [1, 2] });
        expect(second?.turnId).toBe(open[0]?.turn.id);
        expect(session.pending.length).toBeLessThan(2);
      }),
    );

    it(
      'writes nothing unless all of them are pending',
      withStore(async (store) => {
        const [id, other] = [await newThread(store), await newThread(store)];
        await pend(store, id, {}, {}, {});
        await stage(store, id);
        await report(store, id, [2]);
        await report(store, id, [3], { state: 'rejected', claim: claimOf(null, { status: 'failed' }) });
        const before = await loaded(store, id);
        const stale = { kind: 'stale' };
        for (const ids of [[1, 2], [1, 3], [1, 4], [1, 5], [2], []]) {
          expect(await store.reportWalletOutcome(reportOf(id, ids))).toEqual(stale);
        }
        for (const foreign of [other, randomUUID()]) {
          expect(await store.reportWalletOutcome(reportOf(foreign, [1]))).toEqual(stale);
        }
        expect(await loaded(store, id)).toEqual(before);
        await store.deleteSession(id, T0);
        expect(await store.reportWalletOutcome(reportOf(id, [1]))).toEqual(stale);
        expect(await store.loadThread(id)).toBe('deleted');
      }),
    );

    it(
      'counts the record in the size of the thread, and ends an interruption',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { text: 'four' });
        await store.interruptTurns(id, T0);
        await pend(store, id, {});
        const { session } = await report(store, id, [1], { text: '🦑' });
        expect(session.interrupted).toBe(false);
        const ifVersion = await versionOf(store, id);
        const larger = acceptance(id, { ifVersion, text: 'x', maxSessionBytes: 8 });
        expect(await store.acceptMessage(larger)).toEqual({ kind: 'full', bytes: 8 });
        expect(await store.loadTail(id, 5)).toMatchObject({ shown: 2 });
      }),
    );

    it(
      'reads the last ones, also of some states alone',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {}, {}, {}, {});
        await report(store, id, [2], { state: 'rejected' });
        await report(store, id, [4], { state: 'rejected' });
        const ids = async (which: { limit: number; states?: ('pending' | 'rejected' | 'staged')[] }) =>
          (await store.readWalletRequests(id, which)).map((one) => one.id);
        expect(await ids({ limit: 3 })).toEqual([2, 3, 4]);
        expect(await ids({ limit: 1, states: ['pending'] })).toEqual([3]);
        expect(await ids({ limit: 9, states: ['pending', 'rejected'] })).toEqual([1, 2, 3, 4]);
        expect(await ids({ limit: 9, states: ['staged'] })).toEqual([]);
        expect(await ids({ limit: 0 })).toEqual([]);
        const some = await store.readWalletRequests(id, { ids: [4, 1, 77] });
        expect(some.map((one) => one.id)).toEqual([1, 4]);
        expect(await store.readWalletRequests(id, { turnId: randomUUID() })).toEqual([]);
        expect(await store.readWalletRequests(randomUUID(), { limit: 9 })).toEqual([]);
      }),
    );
  });
}

function verificationContract(withStore: WithStore): void {
  describe('verifying a report', () => {
    it(
      'keeps the first verdict, of the turn that learns it, without counting a revision',
      withStore(async (store) => {
        const id = await newThread(store);
        const { turnId } = await reported(store, id, hashOf(1));
        await expectRevision(store, id, 0, async () => {
          expect(await store.verifyWalletRequest(id, 1, randomUUID(), verdict())).toBeUndefined();
          expect(await store.verifyWalletRequest(id, 2, turnId, verdict())).toBeUndefined();
          expect(await store.verifyWalletRequest(randomUUID(), 1, turnId, verdict())).toBeUndefined();
          expect(await states(store, id)).toEqual(['reported']);
          const verdicts = (['confirmed', 'failed', 'differs'] as const).map((one) =>
            verdict({ verdict: one, detail: `“${one}” 🦑` }),
          );
          const all = await Promise.all(verdicts.map((one) => store.verifyWalletRequest(id, 1, turnId, one)));
          const [stored] = await store.readWalletRequests(id, { turnId });
          expect(verdicts).toContainEqual(stored?.verification);
          expect(stored?.state).toBe(stored?.verification?.verdict);
          expect(all).toEqual(all.map(() => stored));
        });
      }),
    );

    it(
      'replaces "not found" by another verdict alone, which holds',
      withStore(async (store) => {
        const id = await newThread(store);
        const { turnId } = await reported(store, id, hashOf(1));
        const put = (fields: Parameters<typeof verdict>[0]) =>
          store.verifyWalletRequest(id, 1, turnId, verdict(fields));
        const lost = { verdict: 'not_found', detail: 'the chain does not show it' } as const;
        expect(await put(lost)).toMatchObject({ state: 'not_found', verification: lost });
        expect(await put({ ...lost, detail: 'again' })).toMatchObject({ verification: lost });
        const mined = { verdict: 'confirmed', detail: 'in block 1' } as const;
        expect(await put(mined)).toMatchObject({ state: 'confirmed', verification: mined });
        for (const later of [lost, { verdict: 'failed' } as const])
          expect(await put(later)).toMatchObject({ state: 'confirmed', verification: mined });
        expect(await store.findSettledBy(1, hashOf(1))).toEqual({ sessionId: id, id: 1 });

        const other = await newThread(store);
        const second = await reported(store, other, hashOf(1));
        await store.verifyWalletRequest(other, 1, second.turnId, verdict(lost));
        const taken = await store.verifyWalletRequest(other, 1, second.turnId, verdict(mined));
        expect(taken).toMatchObject({ state: 'differs', verification: SETTLED_ANOTHER });
      }),
    );

    it(
      'leaves a rejected request as it is',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {});
        const { turn } = await report(store, id, [1], { state: 'rejected', claim: claimOf(null) });
        const left = await store.verifyWalletRequest(id, 1, turn.id, verdict());
        expect(left).toMatchObject({ state: 'rejected', verification: null });
      }),
    );

    it(
      'finds the request that a transaction has confirmed, in any session',
      withStore(async (store) => {
        const [id, other] = [await newThread(store), await newThread(store)];
        const first = await reported(store, id, hashOf(1));
        const failed = await reported(store, other, hashOf(2));
        expect(await store.findSettledBy(1, hashOf(1))).toBeUndefined();
        await store.verifyWalletRequest(id, 1, first.turnId, verdict());
        await store.verifyWalletRequest(other, 1, failed.turnId, verdict({ verdict: 'failed' }));
        expect(await store.findSettledBy(1, hashOf(1))).toEqual({ sessionId: id, id: 1 });
        expect(await store.findSettledBy(10, hashOf(1))).toBeUndefined();
        expect(await store.findSettledBy(1, hashOf(2))).toBeUndefined();
      }),
    );

    it(
      'lets a transaction confirm one request, however many are verified at the same time',
      withStore(async (store) => {
        const ids = await Promise.all(Array.from({ length: 6 }, () => newThread(store)));
        const turns = await Promise.all(ids.map((id) => reported(store, id, hashOf(1))));
        const all = await Promise.all(
          ids.map((id, n) => store.verifyWalletRequest(id, 1, turns[n]?.turnId ?? '', verdict())),
        );
        expect(all.filter((one) => one?.state === 'confirmed')).toHaveLength(1);
        const others = all.filter((one) => one?.state === 'differs');
        expect(others.map((one) => one?.verification)).toEqual(
          others.map(() => ({ ...SETTLED_ANOTHER, at: T0 + 9 })),
        );
        expect(others).toHaveLength(5);

        const elsewhere = await newThread(store);
        const { turnId } = await reported(store, elsewhere, hashOf(1), { chainId: 10 });
        const confirmed = await store.verifyWalletRequest(elsewhere, 1, turnId, verdict());
        expect(confirmed?.state).toBe('confirmed');
      }),
    );

    it(
      'lets the same signature confirm several requests',
      withStore(async (store) => {
        const payload = { kind: 'signature', typedData: null, text: 'hi' } as const;
        for (const id of [await newThread(store), await newThread(store)]) {
          const { turnId } = await reported(store, id, '0xabcd', { payload });
          expect(await store.verifyWalletRequest(id, 1, turnId, verdict())).toMatchObject({
            state: 'confirmed',
          });
        }
      }),
    );
  });
}

function expiryContract(withStore: WithStore): void {
  describe('expiring wallet requests', () => {
    it(
      'ends staged and pending ones whose time is over, a pending one with a commit',
      withStore(async (store) => {
        const [id, waiting, young] = [await newThread(store), await newThread(store), await newThread(store)];
        await stage(store, id, { expiresAt: T0 + 5 });
        await stage(store, waiting);
        await stage(store, waiting);
        await request(store, waiting, [1], { expiresAt: T0 + 6 });
        await request(store, waiting, [2], { expiresAt: T0 + 7 });
        await stage(store, young, { expiresAt: T0 + 7 });
        const revision = Number(await store.revisionOf(waiting));
        const [staged, pending] = [await store.revisionOf(id), { revision: revision + 1, events: [] }];
        expect(await store.expireWalletRequests(T0 + 4, 9)).toEqual([]);
        const expired = await store.expireWalletRequests(T0 + 6, 9);
        expect(expired).toHaveLength(2);
        expect(expired).toContainEqual({ sessionId: id, commit: null });
        expect(expired).toContainEqual({ sessionId: waiting, commit: pending });
        expect(await store.revisionOf(id)).toBe(staged);
        expect(await states(store, waiting)).toEqual(['expired', 'pending']);
        expect(await pendingIds(store, waiting)).toEqual([2]);
        expect(await states(store, young)).toEqual(['staged']);
        expect(await store.expireWalletRequests(T0 + 6, 9)).toEqual([]);
        expect(await store.reportWalletOutcome(reportOf(waiting, [1]))).toEqual({ kind: 'stale' });
      }),
    );

    it(
      'goes on in batches, and leaves those that have an outcome',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {});
        await report(store, id, [1]);
        for (let n = 0; n < 5; n += 1) await stage(store, id, { expiresAt: T0 + n });
        const sizes: number[] = [];
        for (;;) {
          const expired = await store.expireWalletRequests(T0 + 9 * DAY, 2);
          if (expired.length === 0) break;
          expect(expired).toEqual([{ sessionId: id, commit: null }]);
          sizes.push((await states(store, id)).filter((state) => state === 'expired').length);
        }
        expect(sizes).toEqual([2, 4, 5]);
        expect((await states(store, id))[0]).toBe('reported');
      }),
    );

    it(
      'gives a request to the expiry or to the report, never to both',
      withStore(async (store) => {
        const ids = await Promise.all(Array.from({ length: 6 }, () => newThread(store)));
        for (const id of ids) {
          await stage(store, id);
          await request(store, id, [1], { expiresAt: T0 + 5 });
        }
        const [expired, ...outcomes] = await Promise.all([
          store.expireWalletRequests(T0 + 5, 99),
          ...ids.map((id) => store.reportWalletOutcome(reportOf(id, [1]))),
        ]);
        const gone = new Set(expired.map(({ sessionId }) => sessionId));
        for (const [n, id] of ids.entries()) {
          // A store may skip a session that another write holds: the next batch gets it.
          expect(outcomes[n]?.kind).toBe(gone.has(id) ? 'stale' : 'accepted');
          expect(await pendingIds(store, id)).toEqual([]);
        }
      }),
    );

    it(
      'does not touch the requests of sessions that were deleted',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {});
        await store.deleteSession(id, T0);
        await store.saveSession(change(id));
        await expectRevision(store, id, 0, async () => {
          expect(await store.expireWalletRequests(T0 + 9 * DAY, 9)).toEqual([]);
        });
      }),
    );
  });
}
