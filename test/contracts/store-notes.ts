import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { EventBody } from '../../src/core/model/event.js';
import { newSession } from '../../src/core/model/session.js';
import type { Prune, Store } from '../../src/core/ports/store.js';
import { SETTLED_ANOTHER, type Note } from '../../src/core/ports/wallet-store.js';
import {
  change,
  contents,
  end,
  expectRevision,
  LEASE,
  loaded,
  NO_PRUNE,
  record,
  send,
  sendAndClaim,
  T0,
  type WithStore,
} from './store-fixtures.js';
import {
  askFor,
  DAY,
  hashOf,
  newThread,
  pend,
  report,
  reported,
  stage,
  transfer,
  verdict,
  WALLET,
} from './wallet-fixtures.js';

function note(sessionId: string, over: Partial<Note> = {}): Note {
  return {
    sessionId,
    text: 'noted 🦑',
    messageId: randomUUID(),
    turnId: randomUUID(),
    app: 'default',
    maxSessionBytes: 1_000,
    at: T0,
    ...over,
  };
}

/** What stores promise of notes, of the system events of requests, of archived threads, and of what goes with a session. */
export function noteContract(withStore: WithStore): void {
  describe('notes', () => {
    it(
      'are stored with a turn that has ended, and create their session',
      withStore(async (store) => {
        const id = randomUUID();
        const asked = note(id, { app: 'shop' });
        const noted = await store.addNote(asked);
        const turn = {
          ...{ id: asked.turnId, sessionId: id, no: 1, app: 'shop', clientId: null, keyId: null },
          ...{ status: 'complete', createdAt: T0, error: null },
        };
        const message = {
          ...{ id: asked.messageId, turnId: asked.turnId, turnNo: 1, position: 0, role: 'system' },
          ...{ content: 'noted 🦑', toolCalls: null, toolResults: null, createdAt: T0 },
        };
        const session = { ...newSession(id, T0), revision: 1, version: 1 };
        const commit = { revision: 1, events: [] };
        expect(noted).toEqual({ kind: 'noted', session, created: true, turn, message, commit });
        expect(await store.loadThread(id)).toEqual({
          session,
          settled: [message],
          skipped: 0,
          skippedFailures: 0,
          continues: false,
          open: [],
          faults: [],
        });
        expect(await store.readTurn(id, turn.id)).toEqual({ turn, messages: [message] });
        expect(await store.countTurns()).toEqual({ queued: 0, running: 0 });
        const again = await store.addNote(note(id, { at: T0 + 5 }));
        expect(again).toMatchObject({
          created: false,
          turn: { no: 2 },
          session: { activeAt: T0 + 5, version: 1 },
        });
      }),
    );

    it(
      'come behind a running turn, which goes on, and before later turns',
      withStore(async (store) => {
        const id = randomUUID();
        const running = await sendAndClaim(store, id, { text: 'question' });
        await store.addNote(note(id));
        const progress = { messages: [record(running, 1)], events: [], partialText: '' };
        expect(await store.saveProgress(running, progress, T0)).toMatchObject({ revision: 3 });
        const queued = await send(store, id, { text: 'next', claim: LEASE });
        expect(queued).toMatchObject({ claimed: null, turn: { no: 3 } });
        const { next } = await end(store, running, { claimNext: LEASE });
        expect(next?.id).toBe(queued.turn.id);
        expect(await contents(store, id)).toEqual(['question', 'answer 1.1', 'noted 🦑', 'next']);
        const tail = await store.loadTail(id, 2);
        expect(tail).toMatchObject({ shown: 4, messages: [{ content: 'noted 🦑' }, { content: 'next' }] });
        expect((await loaded(store, id)).settled[2]).not.toHaveProperty('origin');
      }),
    );

    it(
      'let a message start its turn at once',
      withStore(async (store) => {
        const id = randomUUID();
        await store.addNote(note(id));
        expect((await sendAndClaim(store, id)).no).toBe(2);
      }),
    );

    it(
      'are refused when the thread would become too large',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.addNote(note(id, { text: '🦑', maxSessionBytes: 3 }))).toEqual({
          kind: 'full',
          bytes: 0,
        });
        expect(await store.loadThread(id)).toBe('unknown');
        await store.addNote(note(id, { text: '🦑', maxSessionBytes: 4 }));
        await expectRevision(store, id, 0, async () => {
          expect(await store.addNote(note(id, { text: 'x', maxSessionBytes: 4 }))).toEqual({
            kind: 'full',
            bytes: 4,
          });
        });
        expect(await contents(store, id)).toEqual(['🦑']);
      }),
    );

    it(
      'bring a deleted session back',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { set: { wallet: 'w' } });
        await store.deleteSession(id, T0);
        const noted = await store.addNote(note(id, { at: T0 + 9 }));
        expect(noted).toMatchObject({
          created: true,
          turn: { no: 1 },
          session: { wallet: null, app: null, createdAt: T0 + 9, revision: 2, version: 2 },
        });
        expect(await contents(store, id)).toEqual(['noted 🦑']);
      }),
    );
  });

  describe('system events of wallet requests', () => {
    it(
      'are delivered once, with the errors, in order',
      withStore(async (store) => {
        const id = randomUUID();
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'one' });
        await pend(store, id, {});
        await store.appendEvents(id, [{ type: 'system_notice', message: 'a notice' }], T0);
        await end(store, await sendAndClaim(store, id), { outcome: 'failed', error: 'two' });
        const { faults } = await loaded(store, id);
        expect(faults).toEqual([
          { n: 1, kind: 'SystemError', text: 'one' },
          { n: 2, kind: 'InlineCall', text: expect.stringContaining('wallet_tx_request') },
          { n: 4, kind: 'SystemError', text: 'two' },
        ]);
        expect(await store.loadTail(id, 1)).toMatchObject({ faults });
        expect(await store.claimFaults(id, LEASE, null)).toEqual({ faults, shown: 0, held: null });
        await store.markFaultsShown(id, 2);
        expect((await store.claimFaults(id, LEASE, null)).faults).toEqual(faults.slice(2));
        expect((await store.readSystemEvents(id, 9)).map(({ kind }) => kind)).toEqual([
          ...['SystemError', 'InlineCall', 'SystemNotice', 'SystemError'],
        ]);
      }),
    );

    it(
      'are kept until they were delivered',
      withStore(async (store) => {
        const id = await newThread(store);
        await pend(store, id, {});
        await store.appendEvents(id, Array<EventBody>(64).fill({ type: 'system_notice', message: 'n' }), T0);
        await store.prune(PRUNE);
        expect(await store.readSystemEvents(id, 9)).toMatchObject([{ kind: 'InlineCall' }]);
        await store.markFaultsShown(id, 1);
        await store.prune({ ...PRUNE, eventsSince: PRUNE.eventsSince + 1 });
        expect(await store.readSystemEvents(id, 9)).toEqual([]);
      }),
    );
  });

  describe('archived threads', () => {
    it(
      'are saved, listed and usable',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id, { set: { wallet: 'w' } }));
        expect((await loaded(store, id)).session.archived).toBe(false);
        const archive = change(id, { set: { archived: true } });
        const saved = await store.saveSession(archive);
        expect(saved).toMatchObject({ session: { archived: true, version: 2, revision: 2 } });
        await expectRevision(store, id, 0, () => store.saveSession(archive));
        const page = { limit: 5, after: null };
        expect(await store.listThreads('w', page)).toMatchObject([{ id, archived: true }]);
        expect(await store.listSessions(page)).toMatchObject([{ archived: true }]);
        expect((await send(store, id)).session.archived).toBe(true);
        await store.saveSession(change(id, { set: { archived: false } }));
        expect(await store.listThreads('w', page)).toMatchObject([{ archived: false }]);
        await store.saveSession(archive);
        await store.deleteSession(id, T0);
        expect((await send(store, id)).session.archived).toBe(false);
      }),
    );
  });

  describe('wallet requests of a deleted session', () => {
    const gone = async (store: Store, id: string, turnId: string) => {
      expect(await store.readWalletRequests(id, { limit: 9 })).toEqual([]);
      expect(await store.readWalletRequests(id, { ids: [1, 2, 3] })).toEqual([]);
      expect(await store.readWalletRequests(id, { turnId })).toEqual([]);
      expect(await store.verifyWalletRequest(id, 1, turnId, verdict())).toBeUndefined();
      expect(await store.expireWalletRequests(T0 + 9 * DAY, 9)).toEqual([]);
    };
    const filled = async (store: Store) => {
      const id = await newThread(store);
      const { turnId } = await reported(store, id, hashOf(1));
      await store.verifyWalletRequest(id, 1, turnId, verdict());
      await pend(store, id, {});
      await stage(store, id);
      await store.interruptTurns(id, T0);
      return { id, turnId };
    };

    it(
      'go with it',
      withStore(async (store) => {
        const { id, turnId } = await filled(store);
        await store.deleteSession(id, T0);
        await gone(store, id, turnId);
        await store.saveSession(change(id));
        await gone(store, id, turnId);
      }),
    );

    it(
      'go when it is pruned',
      withStore(async (store) => {
        const { id, turnId } = await filled(store);
        expect(await store.prune({ ...PRUNE, threadsBefore: T0 + DAY })).toEqual([id]);
        await gone(store, id, turnId);
      }),
    );
  });

  describe('transactions that a wallet was asked for in a deleted session', () => {
    const used = (store: Store, since = 0) =>
      store.walletValueSince({ app: 'default', wallet: WALLET, chainId: 1, since });
    const askedFor = async (store: Store): Promise<string> => {
      const id = await newThread(store);
      await pend(store, id, { payload: transfer('3') });
      const [rejected] = await pend(store, id, { payload: transfer('10') });
      await report(store, id, [rejected?.id ?? 0], { state: 'rejected' });
      await stage(store, id, { payload: transfer('20') });
      await store.interruptTurns(id, T0);
      return id;
    };

    it(
      'count toward the limit of a day, unless they were rejected',
      withStore(async (store) => {
        const id = await askedFor(store);
        await store.deleteSession(id, T0 + 2);
        expect(await used(store)).toBe('3');
        await store.saveSession(change(id));
        await pend(store, id, { payload: transfer('4') });
        expect(await used(store)).toBe('7');
        expect(await used(store, T0 + 2)).toBe('0');
        await store.deleteSession(id, T0 + 3);
        expect(await used(store)).toBe('7');
        const other = await newThread(store);
        await stage(store, other, { payload: transfer('1') });
        const daily = { since: T0, most: { 1: '7' } };
        const over = { kind: 'over_daily', chainId: 1, used: '7' };
        expect(await store.requestWallet(askFor(other, [1], { daily }))).toEqual(over);
      }),
    );

    it(
      'count until they are pruned, also when retention has deleted the session',
      withStore(async (store) => {
        const id = await askedFor(store);
        expect(await store.prune({ ...NO_PRUNE, threadsBefore: T0 + DAY })).toEqual([id]);
        expect(await used(store)).toBe('3');
        await store.prune({ ...NO_PRUNE, transactionsBefore: T0 + 1 });
        expect(await used(store)).toBe('3');
        await store.prune({ ...NO_PRUNE, transactionsBefore: T0 + 2 });
        expect(await used(store)).toBe('0');
      }),
    );

    it(
      'keep the transaction that has confirmed them from confirming another',
      withStore(async (store) => {
        const [id, failed, other] = [await newThread(store), await newThread(store), await newThread(store)];
        const first = await reported(store, id, hashOf(1));
        const second = await reported(store, failed, hashOf(2));
        await store.verifyWalletRequest(id, 1, first.turnId, verdict());
        await store.verifyWalletRequest(failed, 1, second.turnId, verdict({ verdict: 'failed' }));
        await store.deleteSession(id, T0 + 2);
        await store.deleteSession(failed, T0 + 2);
        expect(await store.findSettledBy(1, hashOf(1))).toEqual({ sessionId: id, id: 1 });
        expect(await store.findSettledBy(10, hashOf(1))).toBeUndefined();
        expect(await store.findSettledBy(1, hashOf(2))).toBeUndefined();

        const again = await reported(store, other, hashOf(1));
        const settled = await store.verifyWalletRequest(other, again.id, again.turnId, verdict());
        expect(settled).toMatchObject({ state: 'differs', verification: SETTLED_ANOTHER });
        await store.prune({ ...NO_PRUNE, transactionsBefore: T0 + DAY });
        expect(await store.findSettledBy(1, hashOf(1))).toBeUndefined();
      }),
    );
  });
}

const PRUNE: Prune = { ...NO_PRUNE, eventsKept: 0, eventsSince: T0 + DAY };
