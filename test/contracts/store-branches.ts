import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failuresIn, shownCount, textBytes } from '../../src/core/model/message.js';
import type { Store } from '../../src/core/ports/store.js';
import type { Branched, Branching } from '../../src/core/ports/stored-thread.js';
import {
  acceptance,
  change,
  contents,
  end,
  loaded,
  record,
  send,
  sendAndClaim,
  T0,
  versionOf,
  type WithStore,
} from './store-fixtures.js';
import { pend, WALLET } from './wallet-fixtures.js';

const CALL = { callId: 'c1', name: 'look_up', args: { text: 'größer 🦑' } };
const RESULT = { callId: 'c1', name: 'look_up', result: { at: ['日本'] }, failed: true, multiStep: false };
const AT = T0 + 1_000;

async function branching(store: Store, sourceId: string, over: Partial<Branching> = {}): Promise<Branching> {
  return {
    ...{ sourceId, ifVersion: await versionOf(store, sourceId), before: null, id: randomUUID() },
    ...{ set: {}, idempotency: null, maxSessionBytes: 33_554_432, at: AT },
    ...over,
  };
}

async function branch(
  store: Store,
  sourceId: string,
  over: Partial<Branching> = {},
): Promise<Extract<Branched, { kind: 'branched' }>> {
  const branched = await store.branchSession(await branching(store, sourceId, over));
  if (branched.kind !== 'branched') throw new Error(`the session was not branched: ${branched.kind}`);
  return branched;
}

/** A thread of three turns: one with a tool call, one that failed, one that was interrupted. */
async function threadOfThree(store: Store): Promise<string> {
  const id = randomUUID();
  const first = await sendAndClaim(store, id, { text: 'q1', at: T0 });
  const step = record(first, 1, { content: '', toolCalls: [CALL], toolResults: [RESULT] });
  const usage = { inputTokens: 7, outputTokens: 5 };
  await end(store, first, { messages: [step, record(first, 2)], rig: 'demo', usage, at: T0 + 1 });
  const second = await sendAndClaim(store, id, { text: 'q2', at: T0 + 2 });
  const words = record(second, 1, { role: 'system', content: 'It failed.' });
  await end(store, second, {
    outcome: 'failed',
    error: 'It failed.',
    rig: null,
    messages: [words],
    at: T0 + 3,
  });
  const third = await sendAndClaim(store, id, { text: 'q3', at: T0 + 4 });
  await end(store, third, { outcome: 'interrupted', messages: [record(third, 1)], at: T0 + 5 });
  return id;
}

/** The id of the record with this text. */
async function recordOf(store: Store, id: string, text: string): Promise<string> {
  const page = await store.readMessages(id, { limit: 100, before: null });
  const found =
    page === 'unknown_message' ? undefined : page.messages.find(({ content }) => content === text);
  if (found === undefined) throw new Error(`no record says ${text}`);
  return found.id;
}

/** What every store promises of branches. */
export function branchContract(withStore: WithStore): void {
  describe('branches', () => {
    it(
      'hold copies of the whole history and of how its turns went, with ids of their own',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const before = await loaded(store, source);
        const asked = await branching(store, source, {
          set: { title: 'Branch', titleSource: 'person', wallet: 'w', rig: 'demo', app: 'shop' },
        });
        const branched = await store.branchSession(asked);
        const thread = await loaded(store, asked.id);
        expect(branched).toEqual({
          kind: 'branched',
          session: thread.session,
          bytes: before.settled.reduce((sum, message) => sum + textBytes(message), 0),
        });
        expect(thread.session).toMatchObject({
          ...{ id: asked.id, title: 'Branch', titleSource: 'person', wallet: 'w', rig: 'demo', app: 'shop' },
          ...{ client: null, userState: null, interrupted: true, archived: false, pending: [] },
          ...{ createdAt: AT, activeAt: AT, lastEventId: 0, revision: 1, version: 1 },
        });
        expect(thread).toMatchObject({ open: [], faults: [] });
        const plain = (messages: typeof before.settled) =>
          messages.map(({ id: _id, turnId: _turnId, ...message }) => message);
        expect(plain(thread.settled)).toEqual(plain(before.settled));
        const ids = [...before.settled, ...thread.settled].flatMap(({ id, turnId }) => [id, turnId]);
        expect(new Set(ids).size).toBe(2 * (7 + 3));
        for (const { id, turnId } of thread.settled) {
          for (const one of [id, turnId])
            expect(one).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
        }
        const turns = await store.readTurns(asked.id, { from: 1, to: 9 });
        const went = (await store.readTurns(source, { from: 1, to: 9 })).map(({ id: _id, ...turn }) => turn);
        expect(turns.map(({ id: _id, ...turn }) => turn)).toEqual(went);
        expect(turns.map(({ id }) => id)).toEqual([...new Set(thread.settled.map(({ turnId }) => turnId))]);
        const tail = await store.loadTail(asked.id, 2);
        expect(tail).toMatchObject({
          shown: before.settled.reduce((sum, one) => sum + shownCount(one), 0),
          failures: failuresIn(before.settled),
        });
        expect(failuresIn(before.settled)).toBe(1);
        // The source is as it was.
        expect(await loaded(store, source)).toEqual(before);
        expect(await store.listThreads('w', { limit: 9, after: null })).toMatchObject([{ id: asked.id }]);
      }),
    );

    it(
      'end before a record, whose turn they may cut',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const upTo = async (text: string) => {
          const { session } = await branch(store, source, { before: await recordOf(store, source, text) });
          return { session, said: await contents(store, session.id) };
        };
        expect(await upTo('q1')).toMatchObject({ session: { interrupted: false }, said: [] });
        expect((await upTo('answer 1.2')).said).toEqual(['q1', '']);
        expect(await upTo('q3')).toMatchObject({
          session: { interrupted: false },
          said: ['q1', '', 'answer 1.2', 'q2', 'It failed.'],
        });
        expect(await upTo('answer 3.1')).toMatchObject({ session: { interrupted: true } });
        const empty = (await upTo('q1')).session.id;
        expect(await store.readTurns(empty, { from: 1, to: 9 })).toEqual([]);
        expect(await store.loadTail(empty, 5)).toMatchObject({ messages: [], shown: 0 });
      }),
    );

    it(
      'go on by themselves, and count their size',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const { session, bytes } = await branch(store, source, {
          before: await recordOf(store, source, 'q2'),
        });
        const full = acceptance(session.id, { ifVersion: 1, text: 'on', maxSessionBytes: bytes + 1 });
        expect(await store.acceptMessage(full)).toEqual({ kind: 'full', bytes });
        const turn = await sendAndClaim(store, session.id, { text: 'on' });
        expect(turn.no).toBe(2);
        await end(store, turn, { messages: [record(turn, 1, { content: 'and on' })] });
        expect(await contents(store, session.id)).toEqual(['q1', '', 'answer 1.2', 'on', 'and on']);
        expect(await contents(store, source)).toEqual([
          ...['q1', '', 'answer 1.2', 'q2', 'It failed.', 'q3', 'answer 3.1'],
        ]);
        const again = await branch(store, session.id);
        expect(await contents(store, again.session.id)).toHaveLength(5);
        await store.deleteSession(source, AT);
        expect(await contents(store, session.id)).toHaveLength(5);
      }),
    );

    it(
      'leave out turns that have not ended, whose records cannot end a history',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const running = await sendAndClaim(store, source, { text: 'q4' });
        const step = record(running, 1, { content: 'so far' });
        await store.saveProgress(running, { messages: [step], events: [], partialText: 'half' }, T0);
        const { message } = await send(store, source, { text: 'q5' });
        const { session } = await branch(store, source);
        expect(await contents(store, session.id)).not.toContain('q4');
        expect(await store.loadTail(session.id, 1)).toMatchObject({
          open: [],
          session: { interrupted: true },
        });
        for (const before of [step.id, message.id]) {
          expect(await store.branchSession(await branching(store, source, { before }))).toEqual({
            kind: 'open_turn',
          });
        }
        // A queued turn can end before the running one.
        await store.interruptTurns(source, T0);
        const after = await branch(store, source, { before: null });
        expect((await contents(store, after.session.id)).slice(-2)).toEqual(['answer 3.1', 'q5']);
      }),
    );

    it(
      'take no events, faults, wallet requests or idempotency keys with them',
      withStore(async (store) => {
        const source = randomUUID();
        const key = { key: 'k', fingerprint: 'f', notBefore: 0 };
        const turn = await sendAndClaim(store, source, {
          text: 'q1',
          idempotency: key,
          set: { wallet: WALLET },
        });
        await pend(store, source, {});
        await end(store, turn, {
          ...{ outcome: 'failed', error: 'It failed.' },
          events: [{ type: 'system_notice', message: 'noticed' }],
        });
        const { session } = await branch(store, source);
        expect(session.pending).toEqual([]);
        expect(await store.readSystemEvents(session.id, 9)).toEqual([]);
        expect(await store.readEvents(session.id, 0, 9)).toEqual({ events: [], oldestId: 1, lastId: 0 });
        expect(await store.readWalletRequests(session.id, { limit: 9 })).toEqual([]);
        const same = acceptance(session.id, { ifVersion: 1, text: 'q1', idempotency: key });
        expect(await store.acceptMessage(same)).toMatchObject({ kind: 'accepted' });
      }),
    );

    it(
      'are created once for an idempotency key, which is one of the source',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const key = { key: 'k', fingerprint: 'f', notBefore: 0 };
        const asked = await branching(store, source, { idempotency: key });
        const [one, two] = await Promise.all([
          store.branchSession(asked),
          store.branchSession({ ...asked, id: randomUUID() }),
        ]);
        const kinds = [one.kind, two.kind].sort();
        expect(kinds).toEqual(['branched', 'repeated']);
        const made = [one, two].map((done) => {
          if (done.kind === 'branched') return done.session.id;
          return done.kind === 'repeated' ? done.sessionId : '';
        });
        expect(made[0]).toBe(made[1]);
        const other = { ...asked, idempotency: { ...key, fingerprint: 'g' } };
        expect(await store.branchSession(other)).toEqual({ kind: 'key_reused' });
        const message = acceptance(source, {
          ifVersion: asked.ifVersion,
          idempotency: { ...key, fingerprint: 'g' },
        });
        expect(await store.acceptMessage(message)).toEqual({ kind: 'key_reused' });
        const later = await branching(store, source, {
          idempotency: { ...key, notBefore: AT + 1 },
          at: AT + 1,
        });
        expect(await store.branchSession(later)).toMatchObject({
          kind: 'branched',
          session: { id: later.id },
        });
      }),
    );

    it(
      'are refused without a trace',
      withStore(async (store) => {
        const source = await threadOfThree(store);
        const other = await threadOfThree(store);
        const refused = async (over: Partial<Branching>) => {
          const asked = await branching(store, source, {
            idempotency: { key: 'k', fingerprint: 'f', notBefore: 0 },
            ...over,
          });
          const outcome = await store.branchSession(asked);
          expect(await store.loadThread(asked.id)).toBe('unknown');
          return outcome;
        };
        expect(await refused({ sourceId: randomUUID() })).toEqual({ kind: 'missing' });
        expect(await refused({ ifVersion: 0 })).toEqual({ kind: 'stale' });
        expect(await refused({ before: randomUUID() })).toEqual({ kind: 'unknown_message' });
        const foreign = await recordOf(store, other, 'q2');
        expect(await refused({ before: foreign })).toEqual({ kind: 'unknown_message' });
        const { settled } = await loaded(store, source);
        const bytes = settled.reduce((sum, message) => sum + textBytes(message), 0);
        expect(await refused({ maxSessionBytes: bytes - 1 })).toEqual({ kind: 'full', bytes });
        expect(await branch(store, source, { maxSessionBytes: bytes })).toMatchObject({ bytes });
        await store.saveSession(change(source, { set: { title: 'Other' } }));
        expect(await refused({ ifVersion: 1 })).toEqual({ kind: 'stale' });
        await store.deleteSession(source, AT);
        expect(await refused({})).toEqual({ kind: 'missing' });
      }),
    );

    it(
      'copy a thread of thousands of records',
      withStore(async (store) => {
        const source = randomUUID();
        const turn = await sendAndClaim(store, source, { text: 'long' });
        const many = Array.from({ length: 5_000 }, (_, index) => record(turn, index + 1));
        await end(store, turn, { messages: many });
        const { session } = await branch(store, source, { before: many[4_000]?.id ?? '' });
        expect(await contents(store, session.id)).toEqual([
          'long',
          ...many.slice(0, 4_000).map(({ content }) => content),
        ]);
      }),
    );
  });

  describe('turns', () => {
    it(
      'are read with how they went, by number',
      withStore(async (store) => {
        const id = await threadOfThree(store);
        await sendAndClaim(store, id, { text: 'q4', at: T0 + 6 });
        await send(store, id, { text: 'q5', at: T0 + 7 });
        const unused = { usage: { inputTokens: 0, outputTokens: 0 }, error: null, app: 'default' };
        const [one, two, three, four, five] = await store.readTurns(id, { from: 0, to: 9 });
        expect(one).toEqual({
          ...{ id: expect.any(String), no: 1, app: 'default', status: 'complete', error: null, rig: 'demo' },
          ...{ usage: { inputTokens: 7, outputTokens: 5 }, createdAt: T0, endedAt: T0 + 1 },
        });
        expect(two).toMatchObject({ ...unused, status: 'failed', error: 'It failed.', rig: null });
        expect(three).toMatchObject({ ...unused, status: 'interrupted', rig: 'demo', endedAt: T0 + 5 });
        const open = { ...unused, rig: null, endedAt: null };
        expect(four).toMatchObject({ ...open, status: 'running', createdAt: T0 + 6 });
        expect(five).toMatchObject({ ...open, status: 'queued', createdAt: T0 + 7 });
        expect(await store.readTurns(id, { from: 2, to: 3 })).toEqual([two, three]);
        expect(await store.readTurns(randomUUID(), { from: 0, to: 9 })).toEqual([]);
        await store.interruptTurns(id, T0 + 8);
        expect((await store.readTurns(id, { from: 5, to: 5 }))[0]).toMatchObject({
          ...{ ...open, status: 'interrupted', endedAt: T0 + 8 },
        });
        await store.deleteSession(id, T0);
        expect(await store.readTurns(id, { from: 0, to: 9 })).toEqual([]);
      }),
    );
  });
}
