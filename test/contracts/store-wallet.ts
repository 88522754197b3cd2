import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  WALLET_BOUNDS,
  type PendingRequest,
  type WalletRequest,
} from '../../src/core/model/wallet-request.js';
import type { Store } from '../../src/core/ports/store.js';
import type { TurnClaim } from '../../src/core/model/turn.js';
import {
  acceptance,
  change,
  end,
  expectRevision,
  LEASE,
  loaded,
  sendAndClaim,
  T0,
  versionOf,
  type WithStore,
} from './store-fixtures.js';
import {
  askFor,
  claimOf,
  DAY,
  inlineCall,
  newRequest,
  newThread,
  pend,
  pendingIds,
  report,
  request,
  stage,
  states,
  transfer,
  WALLET,
} from './wallet-fixtures.js';

/** A transfer whose payload has exactly this size as JSON. */
function payloadOf(bytes: number) {
  const empty = Buffer.byteLength(JSON.stringify(transfer('0')));
  return transfer('0', { data: `0x${'0'.repeat(bytes - empty)}` });
}

function shownOf({ id, app, wallet, chainId, label, payload, expiresAt }: WalletRequest): PendingRequest {
  return { id, app, wallet, chainId, label, payload, expiresAt };
}

/** What stores promise of staging and requesting. */
export function walletContract(withStore: WithStore): void {
  describe('staging wallet requests', () => {
    it(
      'numbers them within their session and counts no revision',
      withStore(async (store) => {
        const [id, other] = [await newThread(store), await newThread(store)];
        const message = {
          kind: 'signature',
          typedData: { note: '“\u0000” \\u0000 🦑', nested: [1, null, {}] },
          text: null,
        } as const;
        await expectRevision(store, id, 0, async () => {
          const asked = newRequest(id);
          const staged: WalletRequest = {
            ...asked,
            id: 1,
            state: 'staged',
            requestedAt: null,
            claim: null,
            verification: null,
            turnId: null,
          };
          expect(await store.stageWalletRequest(asked)).toEqual({ kind: 'staged', request: staged });
          expect(await store.readWalletRequests(id, { ids: [1] })).toEqual([staged]);
          const second = await stage(store, id, {
            payload: message,
            isSound: true,
            chainId: 10,
            app: 'shop',
          });
          expect(second).toMatchObject({ id: 2, payload: message, chainId: 10, app: 'shop' });
        });
        expect((await stage(store, other)).id).toBe(1);
        expect(await store.readWalletRequests(id, { limit: 9 })).toMatchObject([
          { id: 1 },
          { payload: message },
        ]);
        expect((await loaded(store, id)).session.pending).toEqual([]);
      }),
    );

    it(
      'stores one for repeats of a call, also when they arrive together',
      withStore(async (store) => {
        const [id, other] = [await newThread(store), await newThread(store)];
        const asked = newRequest(id, { callId: 'call-1' });
        const all = await Promise.all(Array.from({ length: 5 }, () => store.stageWalletRequest(asked)));
        expect(all.map(({ kind }) => kind).sort()).toEqual([
          'exists',
          'exists',
          'exists',
          'exists',
          'staged',
        ]);
        const first = (await store.readWalletRequests(id, { limit: 9 }))[0];
        expect(all.map((one) => ('request' in one ? one.request : one.kind))).toEqual(all.map(() => first));
        expect(await store.readWalletRequests(id, { limit: 9 })).toHaveLength(1);
        expect((await stage(store, other, { callId: 'call-1' })).id).toBe(1);
        await request(store, id, [1]);
        expect(await store.stageWalletRequest(asked)).toMatchObject({
          kind: 'exists',
          request: { state: 'pending' },
        });
      }),
    );

    it(
      'refuses a session that is not stored or was deleted',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.stageWalletRequest(newRequest(id))).toEqual({ kind: 'missing' });
        await store.saveSession(change(id));
        await store.deleteSession(id, T0);
        expect(await store.stageWalletRequest(newRequest(id))).toEqual({ kind: 'missing' });
        expect(await store.loadThread(id)).toBe('deleted');
      }),
    );

    it(
      'bounds the open ones of a session',
      withStore(async (store) => {
        const id = await newThread(store);
        const all = await Promise.all(
          Array.from({ length: WALLET_BOUNDS.open + 5 }, () => store.stageWalletRequest(newRequest(id))),
        );
        expect(all.filter(({ kind }) => kind === 'staged')).toHaveLength(WALLET_BOUNDS.open);
        expect(all.filter(({ kind }) => kind === 'full')).toHaveLength(5);
        await request(store, id, [1]);
        expect(await store.stageWalletRequest(newRequest(id))).toEqual({ kind: 'full' });
        await report(store, id, [1]);
        expect((await stage(store, id)).id).toBe(WALLET_BOUNDS.open + 1);
      }),
    );

    it(
      'bounds the size of a payload',
      withStore(async (store) => {
        const id = await newThread(store);
        await stage(store, id, { payload: payloadOf(WALLET_BOUNDS.payloadBytes) });
        const larger = newRequest(id, { payload: payloadOf(WALLET_BOUNDS.payloadBytes + 1) });
        expect(await store.stageWalletRequest(larger)).toEqual({ kind: 'full' });
        expect((await stage(store, id)).id).toBe(2);
      }),
    );

    it(
      'never reuses an id, not even after the session was deleted and created again',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {}, {});
        await store.deleteSession(id, T0);
        await store.saveSession(change(id));
        expect((await loaded(store, id)).session.pending).toEqual([]);
        expect(await store.readWalletRequests(id, { limit: 9 })).toEqual([]);
        expect((await stage(store, id)).id).toBe(3);
        expect(await store.requestWallet(askFor(id, [1]))).toMatchObject({
          kind: 'refused',
          reason: 'unknown',
        });
      }),
    );
  });

  describe('requesting a wallet', () => {
    it(
      'makes all of them pending and logs the system event in one step',
      withStore(async (store) => {
        const id = await newThread(store);
        for (let n = 0; n < 3; n += 1) await stage(store, id);
        const before = (await loaded(store, id)).session;
        const asked = await store.requestWallet(askFor(id, [3, 1]));
        const all = await store.readWalletRequests(id, { limit: 9 });
        const [first, , third] = all;
        expect(all.map(({ state }) => state)).toEqual(['pending', 'staged', 'pending']);
        expect(first).toMatchObject({ requestedAt: T0 + 1, expiresAt: T0 + 2 * DAY });
        const pending = [first, third].flatMap((one) => (one === undefined ? [] : [shownOf(one)]));
        const session = { ...before, revision: before.revision + 1, pending };
        expect(asked).toEqual({
          kind: 'requested',
          requests: [third, first],
          session,
          commit: { revision: session.revision, events: [] },
        });
        expect(await store.readSystemEvents(id, 9)).toEqual([
          { kind: 'InlineCall', text: inlineCall([3, 1]) },
        ]);
      }),
    );

    it(
      'shows the pending ones in every read of the session',
      withStore(async (store) => {
        const id = await newThread(store);
        const pending = (await pend(store, id, {}, { payload: transfer('5', { data: '0xab' }) })).map(
          shownOf,
        );
        expect((await loaded(store, id)).session.pending).toEqual(pending);
        expect(await store.loadTail(id, 5)).toMatchObject({ session: { pending } });
        const page = { limit: 5, after: null };
        expect(await store.listSessions(page)).toMatchObject([{ pending }]);
        const unchanged = await store.saveSession(change(id));
        expect(unchanged).toMatchObject({ kind: 'saved', session: { pending } });
        const saved = await store.saveSession(change(id, { set: { title: 'x', wallet: 'w' } }));
        expect(saved).toMatchObject({ kind: 'saved', session: { pending } });
        expect(await store.listSessions({ ...page, wallet: 'w' })).toMatchObject([{ pending }]);
        const ifVersion = await versionOf(store, id);
        const accepted = await store.acceptMessage(acceptance(id, { ifVersion, claim: LEASE }));
        expect(accepted).toMatchObject({ kind: 'accepted', session: { pending } });
        expect((await loaded(store, id)).session.pending).toEqual(pending);
      }),
    );

    it(
      'changes nothing when all of them are pending',
      withStore(async (store) => {
        const id = await newThread(store);
        const requests = await pend(store, id, {}, {});
        await expectRevision(store, id, 0, async () => {
          expect(await store.requestWallet(askFor(id, [1, 2], { at: T0 + 5, expiresAt: T0 + 9 }))).toEqual({
            kind: 'unchanged',
            requests,
          });
          expect(await store.requestWallet(askFor(id, [2]))).toMatchObject({ kind: 'unchanged' });
        });
        expect(await store.readSystemEvents(id, 9)).toHaveLength(1);
      }),
    );

    it(
      'asks once when the demand arrives twice at the same time',
      withStore(async (store) => {
        const id = await newThread(store);
        await stage(store, id);
        const all = await Promise.all([1, 2, 3].map(() => store.requestWallet(askFor(id, [1]))));
        expect(all.map(({ kind }) => kind).sort()).toEqual(['requested', 'unchanged', 'unchanged']);
        expect(await store.readSystemEvents(id, 9)).toHaveLength(1);
      }),
    );

    it(
      'refuses all when one of them cannot be requested',
      withStore(async (store) => {
        const id = await newThread(store);
        const other = await newThread(store);
        for (let n = 0; n < 9; n += 1) await stage(store, other);
        await stage(store, id);
        const unsound = (await stage(store, id, { isSound: false })).id;
        const old = (await stage(store, id, { expiresAt: T0 + 1 })).id;
        const expired = (await stage(store, id, { expiresAt: T0 - 1 })).id;
        await store.expireWalletRequests(T0, 5);
        const [rejected, reported, pending] = (await pend(store, id, {}, {}, {})).map((one) => one.id);
        if (rejected === undefined || reported === undefined || pending === undefined)
          throw new Error('none');
        await report(store, id, [rejected], {
          state: 'rejected',
          claim: claimOf(null, { status: 'failed' }),
        });
        await report(store, id, [reported]);

        const before = await store.readWalletRequests(id, { limit: 99 });
        await expectRevision(store, id, 0, async () => {
          for (const [bad, reason] of [
            [9, 'unknown'],
            [unsound, 'unsound'],
            [old, 'expired'],
            [expired, 'expired'],
            [rejected, 'settled'],
            [reported, 'settled'],
            [pending, 'pending'],
          ] as const) {
            const refused = { kind: 'refused', id: bad, reason };
            expect(await store.requestWallet(askFor(id, [1, bad]))).toEqual(refused);
            expect(await store.requestWallet(askFor(id, [bad, 1]))).toEqual(refused);
          }
          const unknown = { kind: 'refused', id: 1, reason: 'unknown' };
          expect(await store.requestWallet(askFor(randomUUID(), [1]))).toEqual(unknown);
        });
        expect(await store.readWalletRequests(id, { limit: 99 })).toEqual(before);
      }),
    );

    it(
      'asks for a turn only while its claim holds and no interrupt was requested',
      withStore(async (store) => {
        const id = await newThread(store);
        const turn = await sendAndClaim(store, id);
        const ids = [(await stage(store, id)).id, (await stage(store, id)).id, (await stage(store, id)).id];
        const askBy = async (by: TurnClaim | null, one = 0) =>
          (await store.requestWallet(askFor(id, [ids[one] ?? 0], { by }))).kind;
        expect(await askBy(turn)).toBe('requested');
        expect(await askBy(turn)).toBe('unchanged');
        const taken = await store.takeOver(turn.id, { ...LEASE, owner: 'other' });
        if (taken === undefined) throw new Error('the turn was not taken over');
        for (const stale of [turn, { ...taken, owner: turn.owner }, { ...turn, id: randomUUID() }])
          expect(await askBy(stale, 1)).toBe('left');
        expect(await askBy(taken, 1)).toBe('requested');
        await store.interruptTurns(id, T0);
        const before = await loaded(store, id);
        expect(await askBy(taken, 2)).toBe('left');
        expect(await loaded(store, id)).toEqual(before);
        await end(store, taken, { outcome: 'interrupted' });
        expect(await askBy(taken, 2)).toBe('left');
        expect(await askBy(null, 2)).toBe('requested');
        expect(await pendingIds(store, id)).toEqual(ids);
      }),
    );

    it(
      'bounds the bytes of the pending ones',
      withStore(async (store) => {
        const id = await newThread(store);
        const count = WALLET_BOUNDS.pendingBytes / WALLET_BOUNDS.payloadBytes;
        const large = Array.from({ length: count }, () => ({
          payload: payloadOf(WALLET_BOUNDS.payloadBytes),
        }));
        await pend(store, id, ...large);
        const more = (await stage(store, id)).id;
        const refused = { kind: 'refused', id: more, reason: 'full' };
        expect(await store.requestWallet(askFor(id, [more]))).toEqual(refused);
        await report(store, id, [1]);
        expect(await store.requestWallet(askFor(id, [more]))).toMatchObject({ kind: 'requested' });
      }),
    );
  });

  dailyContract(withStore);
}

const HUGE = 10n ** 77n;

function dailyContract(withStore: WithStore): void {
  const daily = (most: bigint, chainId = 1) => ({ since: T0, most: { [String(chainId)]: String(most) } });
  const used = (
    store: Store,
    over: { app?: string; wallet?: string; chainId?: number; since?: number } = {},
  ) => store.walletValueSince({ app: 'default', wallet: WALLET, chainId: 1, since: T0, ...over });

  describe('the value that a wallet is asked for in a day', () => {
    it(
      'is exact beyond every machine number',
      withStore(async (store) => {
        const id = await newThread(store);
        const values = [HUGE, 2n ** 64n, 1n];
        for (const value of values) await stage(store, id, { payload: transfer(String(value)) });
        const sum = HUGE + 2n ** 64n;
        const bound = { daily: daily(sum) };
        expect(await store.requestWallet(askFor(id, [1, 2, 3], bound))).toEqual({
          kind: 'over_daily',
          chainId: 1,
          used: '0',
        });
        expect(await pendingIds(store, id)).toEqual([]);
        await request(store, id, [1, 2], bound);
        const over = { kind: 'over_daily', chainId: 1, used: String(sum) };
        expect(await store.requestWallet(askFor(id, [3], bound))).toEqual(over);
        expect(await used(store)).toBe(String(sum));
        await request(store, id, [3], { daily: daily(sum + 1n) });
        expect(await used(store)).toBe(String(sum + 1n));
      }),
    );

    it(
      'counts what is of the same App, wallet and chain, since the day began, and was not rejected',
      withStore(async (store) => {
        const id = await newThread(store);
        const payload = transfer('10');
        await pend(store, id, { payload, app: 'shop' });
        await pend(store, id, { payload, wallet: '0x00000000000000000000000000000000000000cc' });
        await pend(store, id, { payload, chainId: 10 });
        const before = await stage(store, id, { payload });
        await request(store, id, [before.id], { at: T0 - 1 });
        const [rejected] = await pend(store, id, { payload });
        await report(store, id, [rejected?.id ?? 0], { state: 'rejected' });
        await stage(store, id, { payload });
        expect(await used(store)).toBe('0');
        expect(await used(store, { since: T0 - 1 })).toBe('10');
        expect(await used(store, { app: 'shop' })).toBe('10');
        expect(await used(store, { chainId: 10 })).toBe('10');

        const [failed] = await pend(store, id, { payload });
        await report(store, id, [failed?.id ?? 0]);
        const short = await stage(store, id, { payload });
        await request(store, id, [short.id], { expiresAt: T0 + 3 });
        await store.expireWalletRequests(T0 + 3, 9);
        expect(await used(store)).toBe('20');
      }),
    );

    it(
      'limits chains with a limit, and never a request without value',
      withStore(async (store) => {
        const id = await newThread(store);
        await stage(store, id, { payload: transfer('10') });
        await stage(store, id, { payload: transfer('10'), chainId: 10 });
        await stage(store, id, { payload: transfer('0') });
        await stage(store, id, { payload: { kind: 'signature', typedData: null, text: 'hi' } });
        expect(await store.requestWallet(askFor(id, [1, 2], { daily: daily(9n, 10) }))).toEqual({
          kind: 'over_daily',
          chainId: 10,
          used: '0',
        });
        await request(store, id, [1], { daily: daily(9n, 10) });
        await request(store, id, [3, 4], { daily: daily(5n) });
        expect(await used(store)).toBe('10');
      }),
    );

    it(
      'is never over the limit, however many sessions ask at the same time',
      withStore(async (store) => {
        const ids = await Promise.all(Array.from({ length: 12 }, () => newThread(store)));
        for (const id of ids) await stage(store, id, { payload: transfer('10') });
        const all = await Promise.all(
          ids.map((id) => store.requestWallet(askFor(id, [1], { daily: daily(35n) }))),
        );
        expect(all.filter(({ kind }) => kind === 'requested')).toHaveLength(3);
        expect(all.filter(({ kind }) => kind === 'over_daily')).toHaveLength(9);
        expect(await used(store)).toBe('30');
        expect((await Promise.all(ids.map((id) => states(store, id)))).flat().sort()).toEqual([
          ...['pending', 'pending', 'pending'],
          ...Array.from({ length: 9 }, () => 'staged'),
        ]);
      }),
    );
  });
}
