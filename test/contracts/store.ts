import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newSession } from '../../src/core/model/session.js';
import { StoreUnavailableError, type ThreadCursor } from '../../src/core/ports/store.js';
import { acceptContract } from './store-accept.js';
import { branchContract } from './store-branches.js';
import { callContract } from './store-calls.js';
import { eventContract } from './store-events.js';
import {
  change,
  claimFree,
  contents,
  end,
  expectRevision,
  loaded,
  record,
  send,
  sendAndClaim,
  T0,
  type OpenStore,
  type WithStore,
} from './store-fixtures.js';
import { activityContract } from './store-activity.js';
import { overviewContract } from './store-overview.js';
import { secretContract } from './store-secrets.js';
import { partContract } from './store-parts.js';
import { sizeContract } from './store-size.js';
import { pruneContract } from './store-prune.js';
import { noteContract } from './store-notes.js';
import { usageContract } from './store-usage.js';
import { walletOutcomeContract } from './store-wallet-outcomes.js';
import { walletContract } from './store-wallet.js';
import { turnContract } from './store-turns.js';

/** What every store must do. `open` gives one that no other test uses. */
export function storeContract(name: string, open: OpenStore): void {
  const withStore: WithStore = (run) => async () => {
    const opened = await open();
    try {
      await run(opened.store);
    } finally {
      await opened.close();
    }
  };

  describe(`${name} keeps the store contract`, () => {
    sessionContract(withStore);
    listContract(withStore);
    acceptContract(withStore);
    turnContract(withStore);
    eventContract(withStore);
    pruneContract(withStore);
    usageContract(withStore);
    overviewContract(withStore);
    activityContract(withStore);
    secretContract(withStore);
    sizeContract(withStore);
    partContract(withStore);
    branchContract(withStore);
    callContract(withStore);
    walletContract(withStore);
    walletOutcomeContract(withStore);
    noteContract(withStore);

    it('answers a check, and nothing once it is closed', async () => {
      const opened = await open();
      const { store } = opened;
      await expect(store.check()).resolves.toBeUndefined();
      await opened.close();
      await expect(store.check()).rejects.toThrow(StoreUnavailableError);
      await expect(store.loadThread(randomUUID())).rejects.toThrow(StoreUnavailableError);
      await expect(store.saveSession(change(randomUUID()))).rejects.toThrow(StoreUnavailableError);
    });
  });
}

function sessionContract(withStore: WithStore): void {
  describe('sessions', () => {
    it(
      'does not know a session that nothing was written to',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.loadThread(id)).toBe('unknown');
        expect(await store.revisionOf(id)).toBe('unknown');
        expect(await store.heads([id])).toEqual(new Map());
        expect(await store.saveSession(change(id, { ifMissing: 'refuse' }))).toEqual({ kind: 'missing' });
        expect(await store.deleteSession(id, T0)).toBe(false);
        expect(await store.readMessages(id, { limit: 5, before: null })).toEqual({
          messages: [],
          hasMore: false,
        });
        expect(await store.loadThread(id)).toBe('unknown');
      }),
    );

    it(
      'creates a session, with the fields that were set',
      withStore(async (store) => {
        const id = randomUUID();
        const userState = { tree: { evm: { address: '0xÄ', chain_id: 1 }, more: [null, 'x'] }, flat: true };
        const set = {
          title: 'Ünïcode 🎭',
          titleSource: 'person',
          wallet: '0xabc',
          rig: 'demo',
          userState,
        } as const;
        const saved = await store.saveSession(change(id, { set, ifVersion: 0 }));
        const session = { ...newSession(id, T0), ...set, revision: 1, version: 1 };
        expect(saved).toEqual({ kind: 'saved', session, created: true, commit: { revision: 1, events: [] } });
        expect(await store.loadThread(id)).toEqual({
          session,
          settled: [],
          skipped: 0,
          skippedFailures: 0,
          continues: false,
          open: [],
          faults: [],
        });
        expect(await store.heads([id, randomUUID()])).toEqual(
          new Map([[id, { revision: 1, lastEventId: 0 }]]),
        );
      }),
    );

    it(
      'tells where each of many sessions is',
      withStore(async (store) => {
        const ids = Array.from({ length: 100 }, () => randomUUID());
        await Promise.all(ids.map((id) => store.saveSession(change(id))));
        const [deleted = '', changed = ''] = ids;
        await store.deleteSession(deleted, T0);
        await store.saveSession(change(changed, { set: { title: 'Another' } }));
        const heads = await store.heads([...ids, randomUUID(), changed]);
        expect(heads.size).toBe(100);
        expect(heads.get(deleted)).toBe('deleted');
        expect(heads.get(changed)).toEqual({ revision: 2, lastEventId: 0 });
        const others = ids.slice(2).map((id) => heads.get(id));
        expect(others).toEqual(others.map(() => ({ revision: 1, lastEventId: 0 })));
      }),
    );

    it(
      'counts versions for fields that really change, revisions for every change, and nothing for none',
      withStore(async (store) => {
        const id = randomUUID();
        const userState = { tree: { a: 1 }, flat: false };
        await store.saveSession(change(id, { set: { wallet: 'w', userState } }));

        const same = await store.saveSession(
          change(id, { set: { wallet: 'w', userState: { tree: { a: 1 }, flat: false } }, at: T0 + 5 }),
        );
        expect(same).toMatchObject({ created: false, commit: { revision: 1, events: [] } });
        expect(same).toMatchObject({ session: { version: 1, revision: 1, activeAt: T0 } });
        for (const [set, version] of [
          [{ wallet: null }, 2],
          [{ rig: 'r' }, 3],
          [{ app: 'a' }, 4],
          [{ userState: { tree: { a: 2 }, flat: false } }, 5],
          [{ userState: null, title: 't' }, 6],
        ] as const) {
          const saved = await store.saveSession(change(id, { set }));
          expect(saved).toMatchObject({ session: { ...set, version, revision: version } });
        }
        const eventOnly = await store.saveSession(
          change(id, { events: [{ type: 'system_notice', message: 'm' }] }),
        );
        expect(eventOnly).toMatchObject({ session: { version: 6, revision: 7, lastEventId: 1 } });
        expect(await store.revisionOf(id)).toBe(7);
        expect((await loaded(store, id)).session).toMatchObject({
          wallet: null,
          title: 't',
          userState: null,
        });
      }),
    );

    it(
      'logs the events of a change in the same step',
      withStore(async (store) => {
        const id = randomUUID();
        const body = { type: 'title_changed', title: 'New' } as const;
        const saved = await store.saveSession(change(id, { set: { title: 'New' }, events: [body, body] }));
        const events = [
          { id: 1, at: T0, body },
          { id: 2, at: T0, body },
        ];
        expect(saved).toMatchObject({ session: { lastEventId: 2 }, commit: { revision: 1, events } });
        expect(await store.readEvents(id, 0, 10)).toEqual({ events, oldestId: 1, lastId: 2 });
      }),
    );

    it(
      'writes only over the version that the writer saw',
      withStore(async (store) => {
        const id = randomUUID();
        const stale = { kind: 'stale' };
        expect(await store.saveSession(change(id, { ifVersion: 1 }))).toEqual(stale);
        await store.saveSession(change(id, { ifVersion: 0 }));
        expect(await store.saveSession(change(id, { ifVersion: 0, set: { title: 'x' } }))).toEqual(stale);
        const racers = await Promise.all(
          ['a', 'b', 'c', 'd'].map((title) =>
            store.saveSession(change(id, { ifVersion: 1, set: { title } })),
          ),
        );
        expect(racers.filter(({ kind }) => kind === 'saved')).toHaveLength(1);
        expect((await loaded(store, id)).session).toMatchObject({ version: 2, revision: 2 });
      }),
    );

    it(
      'moves activity forward, and only when asked',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id));
        await store.saveSession(change(id, { set: { title: 'x' }, at: T0 + 10 }));
        expect((await loaded(store, id)).session.activeAt).toBe(T0);
        await store.saveSession(change(id, { isActivity: true, at: T0 + 20 }));
        expect((await loaded(store, id)).session).toMatchObject({ activeAt: T0 + 20, createdAt: T0 });
        await store.saveSession(change(id, { isActivity: true, at: T0 + 5 }));
        expect((await loaded(store, id)).session.activeAt).toBe(T0 + 20);
      }),
    );

    it(
      'leaves of a deleted session only its counters, which go on when it comes back',
      withStore(async (store) => {
        const id = randomUUID();
        const idempotency = { key: 'k', fingerprint: 'f', notBefore: 0 };
        const other = { ...idempotency, key: 'other' };
        await send(store, id, { idempotency: other });
        await store.interruptTurns(id, T0);
        const turn = await sendAndClaim(store, id, { idempotency, set: { wallet: 'w', title: 'old' } });
        await store.appendEvents(id, [{ type: 'system_notice', message: 'm' }], T0);
        await end(store, turn, { messages: [record(turn, 1)], error: 'it broke', outcome: 'failed' });
        const waiting = await send(store, id);
        const before = (await loaded(store, id)).session;

        expect(await store.deleteSession(id, T0 + 1)).toBe(true);
        expect(await store.deleteSession(id, T0 + 1)).toBe(false);
        expect(await store.loadThread(id)).toBe('deleted');
        expect(await store.revisionOf(id)).toBe('deleted');
        expect(await store.heads([id])).toEqual(new Map([[id, 'deleted']]));
        expect(await store.listThreads('w', { limit: 5, after: null })).toEqual([]);
        expect(await store.listSessions({ limit: 5, after: null })).toEqual([]);
        expect(await store.readTurn(id, turn.id)).toBeUndefined();
        expect(await store.readSystemEvents(id, 5)).toEqual([]);
        expect(await store.appendEvents(id, [{ type: 'system_notice', message: 'm' }], T0)).toBeUndefined();
        expect(await store.interruptTurns(id, T0)).toBeUndefined();
        expect(await store.takeOver(waiting.turn.id, { owner: 'b', milliseconds: 1 })).toBeUndefined();
        expect(await claimFree(store, { owner: 'b', milliseconds: 1 }, 5)).toEqual([]);
        expect(await store.saveSession(change(id, { ifMissing: 'refuse' }))).toEqual({ kind: 'missing' });
        const { events, lastId } = await store.readEvents(id, 0, 10);
        expect({ events, lastId }).toEqual({ events: [], lastId: before.lastEventId });

        const back = await send(store, id, { idempotency, at: T0 + 9 });
        expect(back).toMatchObject({ created: true, turn: { no: 1 }, commit: { events: [] } });
        const thread = await loaded(store, id);
        expect(thread.session).toMatchObject({
          ...newSession(id, T0 + 9),
          app: 'default',
          lastEventId: 1,
          revision: thread.session.revision,
          version: thread.session.version,
        });
        expect(thread.session.revision).toBeGreaterThan(before.revision);
        expect(thread.session.version).toBeGreaterThan(before.version);
        expect(thread).toMatchObject({ settled: [], faults: [], open: [{ turn: { id: back.turn.id } }] });
        expect(await send(store, id, { idempotency: other })).toMatchObject({ turn: { no: 2 } });
        const next = await store.appendEvents(id, [{ type: 'system_notice', message: 'n' }], T0);
        expect(next?.events.map((event) => event.id)).toEqual([before.lastEventId + 1]);
      }),
    );

    it(
      'takes a deleted session for one that is not stored',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id));
        await store.deleteSession(id, T0);
        expect(await store.saveSession(change(id, { ifVersion: 1 }))).toEqual({ kind: 'stale' });
        const back = await store.saveSession(change(id, { ifVersion: 0, at: T0 + 1 }));
        expect(back).toMatchObject({
          created: true,
          session: { createdAt: T0 + 1, version: 2, revision: 2 },
        });
      }),
    );
  });

  describe('records', () => {
    it(
      'reads a thread of many records at once, in order',
      withStore(async (store) => {
        const id = randomUUID();
        const expected: string[] = [];
        let turn = await sendAndClaim(store, id, { text: 'question 1' });
        for (let no = 1; no <= 3; no++) {
          const messages = Array.from({ length: 400 }, (_, index) => record(turn, index + 1));
          await send(store, id, { text: `question ${String(no + 1)}` });
          const { next } = await end(store, turn, {
            messages,
            claimNext: { owner: 'a', milliseconds: 60_000 },
          });
          if (next === null) throw new Error('the next turn was not claimed');
          expected.push(`question ${String(no)}`, ...messages.map(({ content }) => content));
          turn = next;
        }
        const { settled } = await loaded(store, id);
        expect(settled.map(({ content }) => content)).toEqual(expected);
        expect(await contents(store, id)).toEqual([...expected, 'question 4']);
      }),
    );

    it(
      'pages backwards from the newest record',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: 'q1' });
        await send(store, id, { text: 'q2' });
        await end(store, turn, { messages: [1, 2, 3].map((position) => record(turn, position)) });
        const all = ['q1', 'answer 1.1', 'answer 1.2', 'answer 1.3', 'q2'];

        const seen: string[][] = [];
        let before: string | null = null;
        for (;;) {
          const page = await store.readMessages(id, { limit: 2, before });
          if (page === 'unknown_message') throw new Error('the page was not found');
          seen.push(page.messages.map(({ content }) => content));
          before = page.messages[0]?.id ?? null;
          if (!page.hasMore) break;
        }
        expect(seen).toEqual([all.slice(3), all.slice(1, 3), all.slice(0, 1)]);
        expect(await store.readMessages(id, { limit: 5, before: null })).toMatchObject({ hasMore: false });
      }),
    );

    it(
      'ends a page of long records early, but never without a record',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: 'question' });
        const call = { callId: 'c', name: 'read', args: {} };
        const result = {
          callId: 'c',
          name: 'read',
          result: 'r'.repeat(600_000),
          failed: false,
          multiStep: false,
        };
        await end(store, turn, {
          messages: [
            record(turn, 1, { content: 'a'.repeat(1_200_000) }),
            record(turn, 2, { content: 'b'.repeat(400_000) }),
            record(turn, 3, { content: '', toolCalls: [call], toolResults: [result] }),
            record(turn, 4, { content: 'c'.repeat(1_000) }),
          ],
        });
        const sizes: (readonly number[])[] = [];
        let before: string | null = null;
        for (;;) {
          const page = await store.readMessages(id, { limit: 4, before });
          if (page === 'unknown_message') throw new Error('the page was not found');
          sizes.push(page.messages.map(({ content }) => content.length));
          before = page.messages[0]?.id ?? null;
          if (!page.hasMore) break;
        }
        expect(sizes).toEqual([[400_000, 0, 1_000], [1_200_000], [8]]);
      }),
    );

    it(
      'does not page from a record of another session',
      withStore(async (store) => {
        const [id, other] = [randomUUID(), randomUUID()];
        await send(store, id);
        const { message } = await send(store, other);
        expect(await store.readMessages(id, { limit: 5, before: message.id })).toBe('unknown_message');
        expect(await store.readMessages(id, { limit: 5, before: randomUUID() })).toBe('unknown_message');
      }),
    );
  });
}

function listContract(withStore: WithStore): void {
  describe('lists', () => {
    it(
      'lists the threads of a wallet newest first, and pages among those of one moment',
      withStore(async (store) => {
        const ids = Array.from({ length: 7 }, () => randomUUID()).sort();
        for (const [index, id] of ids.entries()) {
          const at = T0 + (index < 5 ? 0 : index);
          await store.saveSession(change(id, { set: { wallet: 'w', title: id }, at }));
        }
        await store.saveSession(change(randomUUID(), { set: { wallet: 'other' } }));
        await store.saveSession(change(randomUUID()));

        const expected = [...ids].reverse();
        const seen: string[] = [];
        let after: ThreadCursor | null = null;
        for (;;) {
          const page = await store.listThreads('w', { limit: 3, after });
          seen.push(...page.map(({ id }) => id));
          after = page.at(-1) ?? null;
          if (page.length < 3) break;
        }
        expect(seen).toEqual(expected);
        const [newest] = await store.listThreads('w', { limit: 1, after: null });
        const id = ids[6] ?? '';
        expect(newest).toEqual({ id, title: id, archived: false, createdAt: T0 + 6, activeAt: T0 + 6 });
      }),
    );

    it(
      'lists all sessions in the same order, and follows activity',
      withStore(async (store) => {
        const [a, b] = [randomUUID(), randomUUID()];
        await store.saveSession(change(a, { set: { wallet: 'w' }, at: T0 }));
        await store.saveSession(change(b, { at: T0 + 1 }));
        const order = async () => (await store.listSessions({ limit: 9, after: null })).map(({ id }) => id);
        expect(await order()).toEqual([b, a]);
        await send(store, a, { at: T0 + 2 });
        expect(await order()).toEqual([a, b]);
        const [first] = await store.listSessions({ limit: 1, after: null });
        expect(first).toEqual((await loaded(store, a)).session);
        expect(await store.listSessions({ limit: 9, after: first ?? null })).toHaveLength(1);
        expect(await store.listSessions({ limit: 9, after: null, wallet: 'w' })).toEqual([first]);
        expect(await store.listSessions({ limit: 9, after: first ?? null, wallet: 'w' })).toEqual([]);
      }),
    );

    it(
      'moves a thread to the wallet that was bound last',
      withStore(async (store) => {
        const id = randomUUID();
        await store.saveSession(change(id, { set: { wallet: 'w1' } }));
        await expectRevision(store, id, 1, () => store.saveSession(change(id, { set: { wallet: 'w2' } })));
        expect(await store.listThreads('w1', { limit: 5, after: null })).toEqual([]);
        expect(await store.listThreads('w2', { limit: 5, after: null })).toHaveLength(1);
      }),
    );
  });
}
