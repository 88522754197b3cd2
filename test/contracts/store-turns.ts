import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Use } from '../../src/core/model/quota.js';
import type { ClaimedTurn } from '../../src/core/model/turn.js';
import type { AttemptUse } from '../../src/core/ports/lease-store.js';
import type { Progress, Store } from '../../src/core/ports/store.js';
import {
  acceptance,
  claimFree,
  contents,
  end,
  ending,
  expectRevision,
  LEASE,
  loaded,
  LOST,
  record,
  send,
  sendAndClaim,
  T0,
  type WithStore,
} from './store-fixtures.js';

const OTHER = { owner: 'node-b', milliseconds: 600_000 };

function progress(over: Partial<Progress> = {}): Progress {
  return { messages: [], events: [], partialText: '', ...over };
}

/** What turns must do between their acceptance and their end. */
export function turnContract(withStore: WithStore): void {
  describe('the count of turns', () => {
    it(
      'says how many wait and run, and forgets those that have ended',
      withStore(async (store) => {
        const before = await store.countTurns();
        const counts = async () => {
          const { queued, running } = await store.countTurns();
          return [queued - before.queued, running - before.running];
        };
        const [one, other] = [randomUUID(), randomUUID()];
        const turn = await sendAndClaim(store, one);
        await send(store, one);
        await send(store, other);
        expect(await counts()).toEqual([2, 1]);
        await end(store, turn);
        expect(await counts()).toEqual([2, 0]);
        await store.interruptTurns(one, T0);
        await store.deleteSession(other, T0);
        expect(await counts()).toEqual([0, 0]);
      }),
    );
  });

  describe('progress of a turn', () => {
    it(
      'keeps finished steps and events, and replaces a record by its id',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        const call = { callId: 'c1', name: 'add', args: { a: 1, deep: { b: [true, null] } } };
        const step = record(turn, 1, { content: '', toolCalls: [call] });
        const body = { type: 'tool_update', callId: 'c1', toolName: 'add' } as const;
        const saved = await store.saveProgress(turn, progress({ messages: [step], events: [body] }), T0 + 1);
        expect(saved).toEqual({ revision: 2, events: [{ id: 1, at: T0 + 1, body }] });

        const result = { callId: 'c1', name: 'add', result: { sum: 3 }, failed: false, multiStep: true };
        const done = { ...step, toolResults: [result], content: 'done' };
        const next = record(turn, 2);
        await store.saveProgress(turn, progress({ messages: [done, next], partialText: 'and' }), T0 + 2);
        const { open, settled, session } = await loaded(store, id);
        expect(settled).toEqual([]);
        expect(open[0]?.messages.slice(1)).toEqual([done, next]);
        expect(open[0]?.partialText).toBe('and');
        expect(session).toMatchObject({ revision: 3, version: 1, lastEventId: 1, activeAt: T0 });
      }),
    );

    it(
      'keeps a checkpoint without counting a revision',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await expectRevision(store, id, 0, async () => {
          const saved = await store.saveProgress(
            turn,
            progress({ partialText: 'so far', partialSince: T0 - 5 }),
            T0,
          );
          expect(saved).toEqual({ revision: 1, events: [] });
        });
        const stored = { partialText: 'so far', partialSince: T0 - 5 };
        expect((await loaded(store, id)).open).toMatchObject([stored]);
        expect(await store.loadTail(id, 1)).toMatchObject({ open: [stored] });
        const flight = { turnId: turn.id, position: 1, since: T0 - 5 };
        expect(await store.readFlight(id)).toEqual({ ...flight, attempt: 1, text: 'so far', leftover: '' });
        const taken = await store.takeOver(turn.id, OTHER);
        expect(taken).toMatchObject({ ...stored, attempt: 2 });
        if (taken === undefined) return;
        expect(await store.readFlight(id)).toEqual({ ...flight, attempt: 2, text: '', leftover: 'so far' });
        const body = { type: 'system_notice', message: 'm' } as const;
        await store.saveProgress(taken, progress({ events: [body], partialText: null }), T0);
        expect(await store.readFlight(id)).toEqual({ ...flight, attempt: 2, text: '', leftover: 'so far' });
        await store.saveProgress(taken, progress({ partialText: 'anew', partialSince: T0 + 5 }), T0);
        await store.saveProgress(taken, progress({ events: [body], partialText: null }), T0);
        expect(await store.readFlight(id)).toEqual({
          ...{ ...flight, since: T0 + 5 },
          ...{ attempt: 2, text: 'anew', leftover: '' },
        });
        await store.endTurn(taken, ending());
        expect(await store.readFlight(id)).toBeUndefined();
      }),
    );

    it(
      'is stored once, although the first attempt may have been stored',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        const event = (message: string) =>
          ({ type: 'tool_update', callId: 'c1', toolName: 'add', message }) as const;
        const steps = progress({
          messages: [record(turn, 1)],
          events: [event('half'), event('all')],
          partialText: '',
        });
        await store.saveProgress(turn, progress({ events: [event('half')] }), T0);
        // The events before do not count, though one is equal.
        const saved = await store.saveProgress(turn, { ...steps, repeatsAfter: 1 }, T0 + 1);
        if (saved === 'lost') throw new Error('the turn was lost');
        expect(saved).toMatchObject({ revision: 3, events: [{ id: 2 }, { id: 3 }] });
        await store.appendEvents(id, [{ type: 'system_notice', message: 'm' }], T0 + 2);
        const again = await store.saveProgress(turn, { ...steps, repeatsAfter: 1 }, T0 + 1);
        expect(again).toEqual({ revision: 4, events: saved.events });
        expect((await store.readEvents(id, 0, 9)).events.map(({ at }) => at - T0)).toEqual([0, 1, 1, 2]);
        expect((await loaded(store, id)).session).toMatchObject({ revision: 4, lastEventId: 4 });

        const silent = progress({ messages: [record(turn, 2)], repeatsAfter: 4 });
        expect(await store.saveProgress(turn, silent, T0 + 3)).toEqual({ revision: 5, events: [] });
        const stranger = { ...turn, owner: 'x' };
        expect(await store.saveProgress(stranger, { ...steps, repeatsAfter: 1 }, T0 + 4)).toBe('lost');
      }),
    );

    it(
      'writes nothing for an owner that has lost the turn',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        const taken = await store.takeOver(turn.id, LEASE);
        if (taken === undefined) throw new Error('the turn was not taken over');
        const late = progress({ messages: [record(turn, 1)], partialText: 'late' });
        await expectRevision(store, id, 0, async () => {
          expect(await store.saveProgress(turn, late, T0)).toBe('lost');
          expect(await store.endTurn(turn, ending({ messages: late.messages, error: 'late' }))).toBe('lost');
          expect(await store.saveProgress({ ...taken, owner: 'x' }, late, T0)).toBe('lost');
        });
        expect(await loaded(store, id)).toMatchObject({ faults: [], open: [{ partialText: '' }] });
        expect(await contents(store, id)).toEqual(['hello']);
        await end(store, taken);
        expect(await store.saveProgress(taken, late, T0)).toBe('lost');
        expect(await store.endTurn(taken, ending({ messages: late.messages }))).toBe('lost');
        await store.deleteSession(id, T0);
        expect(await store.endTurn(taken, ending())).toBe('lost');
      }),
    );

    it(
      'fails whole when two records would have one place, or one record two turns',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await sendAndClaim(store, id);
        const kept = record(first, 1);
        await end(store, first, { messages: [kept] });
        const turn = await sendAndClaim(store, id);
        const clash = progress({ messages: [record(turn, 1), record(turn, 1)], partialText: 'x' });
        await expectRevision(store, id, 0, async () => {
          await expect(store.saveProgress(turn, clash, T0)).rejects.toThrow();
        });
        expect(await contents(store, id)).toEqual(['hello', kept.content, 'hello']);
        const stolen = progress({
          messages: [{ ...kept, position: 5, content: 'stolen' }],
          partialText: 'x',
        });
        await expectRevision(store, id, 0, async () => {
          await expect(store.saveProgress(turn, stolen, T0)).rejects.toThrow();
        });
        expect(await contents(store, id)).toEqual(['hello', kept.content, 'hello']);
        expect((await loaded(store, id)).open[0]?.partialText).toBe('');
        await end(store, turn, { messages: [record(turn, 1)] });
      }),
    );
  });

  describe('the end of a turn', () => {
    it(
      'stores the reply, the events and the outcome in one step',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await store.saveProgress(turn, progress({ partialText: 'half' }), T0);
        const reply = record(turn, 1);
        const body = { type: 'system_notice', message: 'm' } as const;
        const ended = await end(store, turn, { messages: [reply], events: [body], at: T0 + 7 });
        expect(ended).toEqual({ commit: { revision: 2, events: [{ id: 1, at: T0 + 7, body }] }, next: null });
        const { session, open, settled, faults } = await loaded(store, id);
        expect({ open, faults }).toEqual({ open: [], faults: [] });
        expect(settled[1]).toEqual(reply);
        expect(session).toMatchObject({ interrupted: false, activeAt: T0 + 7, revision: 2, version: 1 });
        expect(await store.readTurn(id, turn.id)).toMatchObject({
          turn: { status: 'complete', error: null },
        });
      }),
    );

    it(
      'keeps the reason of a failure with the turn and as a fault',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await end(store, turn, { outcome: 'failed', error: 'The model is away.' });
        expect(await store.readTurn(id, turn.id)).toMatchObject({
          turn: { status: 'failed', error: 'The model is away.' },
        });
        const { faults, session } = await loaded(store, id);
        expect(faults.map(({ text }) => text)).toEqual(['The model is away.']);
        expect(session.interrupted).toBe(false);
      }),
    );

    it(
      'orders all records of a turn before those of the next, whenever they were stored',
      withStore(async (store) => {
        const id = randomUUID();
        let turn = await sendAndClaim(store, id, { text: 'q1' });
        await send(store, id, { text: 'q2' });
        await store.saveProgress(turn, progress({ messages: [record(turn, 1)] }), T0);
        await send(store, id, { text: 'q3' });
        expect(await contents(store, id)).toEqual(['q1', 'answer 1.1', 'q2', 'q3']);
        for (const no of [1, 2]) {
          const position = no === 1 ? 2 : 1;
          const { next } = await end(store, turn, { messages: [record(turn, position)], claimNext: LEASE });
          expect(next).toMatchObject({ no: no + 1, attempt: 1, status: 'running', owner: LEASE.owner });
          if (next !== null) turn = next;
        }
        expect(await contents(store, id)).toEqual([
          'q1',
          'answer 1.1',
          'answer 1.2',
          'q2',
          'answer 2.1',
          'q3',
        ]);
        const page = await store.readMessages(id, { limit: 2, before: null });
        expect(page).toMatchObject({ messages: [{ content: 'answer 2.1' }, { content: 'q3' }] });
        expect((await end(store, turn, { claimNext: LEASE })).next).toBeNull();
      }),
    );

    it(
      'leaves the next turn waiting unless asked to claim it',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        const waiting = await send(store, id);
        expect((await end(store, turn)).next).toBeNull();
        expect(await store.readTurn(id, waiting.turn.id)).toMatchObject({ turn: { status: 'queued' } });
      }),
    );
  });

  describe('the tokens of attempts', () => {
    const use = (subject: string, amount: number): Use => ({ subject, measure: 'tokens', from: T0, amount });
    const used = (turn: ClaimedTurn, tokens: number): AttemptUse => ({
      ...{ turnId: turn.id, attempt: turn.attempt, usage: { inputTokens: tokens, outputTokens: 1 } },
      ...{ shownTokens: 1, uses: [use('key:all', tokens), use(`session:${turn.sessionId}`, tokens)] },
    });
    const usageOf = async (store: Store, id: string) =>
      (await store.readTurns(id, { from: 1, to: 9 })).map(({ usage }) => usage);
    const countedFor = async (store: Store, subject: string) =>
      (await store.readUses(T0, 100)).find((one) => one.subject === subject)?.amount;

    it(
      'add up, whatever the order in which they are counted',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await sendAndClaim(store, id);
        await store.countAttempts([]);
        await store.countAttempts([used(first, 100)]);
        const second = await store.takeOver(first.id, OTHER);
        if (second === undefined) throw new Error('the turn was not taken over');
        const third = await store.takeOver(first.id, LEASE);
        if (third === undefined) throw new Error('the turn was not taken over');
        await end(store, third, { usage: { inputTokens: 7, outputTokens: 5 }, uses: [use('key:all', 12)] });
        await store.countAttempts([used(second, 10)]);
        expect(await usageOf(store, id)).toEqual([{ inputTokens: 117, outputTokens: 7 }]);
        expect(await countedFor(store, 'key:all')).toBe(122);
      }),
    );

    it(
      'add up when several attempts at a turn are counted in one step',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await sendAndClaim(store, id);
        const second = await store.takeOver(first.id, OTHER);
        if (second === undefined) throw new Error('the turn was not taken over');
        await store.countAttempts([used(first, 100), used(second, 10)]);
        expect(await usageOf(store, id)).toEqual([{ inputTokens: 110, outputTokens: 2 }]);
        expect(await countedFor(store, 'key:all')).toBe(110);
      }),
    );

    it(
      'are recorded for many turns in one step, deleted ones included',
      withStore(async (store) => {
        const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
        const turns = await Promise.all(ids.map((id) => sendAndClaim(store, id)));
        await store.deleteSession(ids[1], T0);
        await store.countAttempts(turns.map((turn) => used(turn, 100)));
        const usage = [{ inputTokens: 100, outputTokens: 1 }];
        expect(await Promise.all(ids.map((id) => usageOf(store, id)))).toEqual([usage, [], usage]);
        expect(await countedFor(store, 'key:all')).toBe(300);
        expect(await countedFor(store, `session:${ids[1]}`)).toBe(100);
      }),
    );

    it(
      'are recorded concurrently with other writes to the same sessions and uses',
      withStore(async (store) => {
        const ids = Array.from({ length: 8 }, () => randomUUID());
        const quotas = [
          { subject: 'key:all', measure: 'tokens', from: T0, milliseconds: 1_000, limit: 1e9 },
        ] as const;
        const lost = await Promise.all(ids.map((id) => sendAndClaim(store, id, { quotas })));
        const taken = await Promise.all(lost.map(({ id }) => store.takeOver(id, OTHER)));
        const turns = taken.flatMap((turn) => turn ?? []);
        await Promise.all([
          store.countAttempts(lost.map((turn) => used(turn, 100))),
          ...turns.map((turn) => store.endTurn(turn, ending({ uses: [use('key:all', 1)] }))),
          ...ids.map((id) =>
            store.acceptMessage(acceptance(id, { ifVersion: 1, quotas, busy: 'interrupt' })),
          ),
          store.renewLeases(OTHER, turns.map(({ id }) => id).reverse()),
          ...lost.toReversed().map((turn) => store.countAttempts([used(turn, 10)])),
        ]);
        expect(await countedFor(store, 'key:all')).toBe(8 * 111);
        for (const id of ids) expect((await usageOf(store, id))[0]?.inputTokens).toBe(110);
      }),
    );

    it(
      'are not recorded twice for an attempt that has ended its turn',
      withStore(async (store) => {
        const [id, other] = [randomUUID(), randomUUID()];
        const [turn, running] = [await sendAndClaim(store, id), await sendAndClaim(store, other)];
        const usage = { inputTokens: 7, outputTokens: 5 };
        await end(store, turn, { usage, uses: [use('key:all', 12)] });
        await store.countAttempts([used(turn, 100), used(running, 100)]);
        expect(await usageOf(store, id)).toEqual([usage]);
        expect(await countedFor(store, 'key:all')).toBe(112);
        expect(await countedFor(store, `session:${id}`)).toBeUndefined();
      }),
    );
  });

  describe('interrupting', () => {
    it(
      'has nothing to cancel in an idle session',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.interruptTurns(id, T0)).toBeUndefined();
        await end(store, await sendAndClaim(store, id));
        await expectRevision(store, id, 0, async () => {
          expect(await store.interruptTurns(id, T0)).toBeUndefined();
        });
        expect((await loaded(store, id)).session.interrupted).toBe(false);
      }),
    );

    it(
      'ends what waits and marks what runs; the session is interrupted once that has ended',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: 'q1' });
        const waiting = await send(store, id, { text: 'q2' });
        const { revision } = (await loaded(store, id)).session;
        const interruption = await store.interruptTurns(id, T0 + 1);
        expect(interruption).toEqual({
          cancelled: [{ ...waiting.turn, status: 'interrupted' }],
          running: expect.objectContaining({ id: turn.id, status: 'running' }),
          commit: { revision: revision + 1, events: [] },
        });
        expect((await loaded(store, id)).session.interrupted).toBe(false);
        expect(await store.takeOver(turn.id, OTHER)).toMatchObject({ cancelRequested: true });
        const taken = await store.takeOver(turn.id, LEASE);
        if (taken === undefined) throw new Error('the turn was not taken over');
        await end(store, taken, { outcome: 'interrupted', messages: [record(turn, 1)] });
        expect((await loaded(store, id)).session.interrupted).toBe(true);
        expect(await contents(store, id)).toEqual(['q1', 'answer 1.1', 'q2']);
        expect(await claimFree(store, LEASE, 5)).toEqual([]);

        await send(store, id);
        expect((await loaded(store, id)).session.interrupted).toBe(false);
      }),
    );

    it(
      'cancels what waits before a turn whose end is stored later can claim it',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await send(store, id);
        const interrupting = store.interruptTurns(id, T0 + 1);
        const { next } = await end(store, turn, { outcome: 'interrupted', claimNext: LEASE });
        expect(next).toBeNull();
        expect(await interrupting).toMatchObject({ cancelled: [{ status: 'interrupted' }] });
      }),
    );

    it(
      'interrupts the session at once when nothing runs',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id);
        expect(await store.interruptTurns(id, T0)).toMatchObject({ running: null, cancelled: [{ no: 1 }] });
        expect((await loaded(store, id)).session).toMatchObject({ interrupted: true, revision: 2 });
      }),
    );

    it(
      'does not say interrupted while another turn waits',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        await store.interruptTurns(id, T0);
        await send(store, id);
        await end(store, turn, { outcome: 'interrupted' });
        expect((await loaded(store, id)).session.interrupted).toBe(false);
      }),
    );
  });

  describe('leases', () => {
    it(
      'gives a turn whose lease is lost to any node that claims it, and counts the loss',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { claim: LOST });
        await store.saveProgress(turn, progress({ partialText: 'half' }), T0);
        const [again, ...more] = await claimFree(store, OTHER, 5);
        expect(more).toEqual([]);
        expect(again).toEqual({ ...turn, owner: OTHER.owner, attempt: 2, losses: 1, partialText: 'half' });
        expect(await claimFree(store, OTHER, 5)).toEqual([]);
        expect(await store.saveProgress(turn, progress(), T0)).toBe('lost');
      }),
    );

    it(
      'leaves a held turn alone, and keeps it held by renewals of its owner alone',
      withStore(async (store) => {
        const turn = await sendAndClaim(store, randomUUID());
        expect(await claimFree(store, OTHER, 5)).toEqual([]);
        expect(await store.renewLeases(OTHER, [turn.id])).toEqual([]);
        const held = [{ turnId: turn.id, cancelRequested: false }];
        expect(await store.renewLeases({ ...LEASE, milliseconds: -1 }, [turn.id, randomUUID()])).toEqual(
          held,
        );
        expect(await store.renewLeases(LEASE, [turn.id])).toEqual(held);
        expect(await claimFree(store, OTHER, 5)).toEqual([]);
        await store.renewLeases({ ...LEASE, milliseconds: -1 }, [turn.id]);
        expect(await claimFree(store, OTHER, 5)).toMatchObject([{ id: turn.id, losses: 1 }]);
        expect(await store.renewLeases(LEASE, [turn.id])).toEqual([]);
      }),
    );

    it(
      'shows each lease with the time that is left of it, and a mark that every renewal and claim changes',
      withStore(async (store) => {
        const turn = await sendAndClaim(store, randomUUID(), {
          claim: { owner: 'ahead', milliseconds: 3_600_000 },
        });
        const past = await sendAndClaim(store, randomUUID(), { claim: LOST });
        const released = await sendAndClaim(store, randomUUID());
        await store.releaseTurns(LEASE.owner, [released.id]);
        await send(store, randomUUID());
        const seen = await store.readLeases();
        expect(seen.map(({ id }) => id).sort()).toEqual([turn.id, past.id].sort());
        const sight = seen.find(({ id }) => id === turn.id);
        expect(sight?.leftMs).toBeGreaterThan(3_500_000);
        expect(sight?.leftMs).toBeLessThanOrEqual(3_600_000);
        expect(seen.find(({ id }) => id === past.id)?.leftMs).toBeLessThanOrEqual(0);
        expect(await store.readLeases()).toMatchObject(seen.map(({ id, mark }) => ({ id, mark })));

        const markOf = async (): Promise<string | undefined> =>
          (await store.readLeases()).find(({ id }) => id === turn.id)?.mark;
        await store.renewLeases({ owner: 'ahead', milliseconds: 3_700_000 }, [turn.id]);
        const renewed = await markOf();
        await store.takeOver(turn.id, { owner: 'other', milliseconds: 3_700_000 });
        expect(new Set([sight?.mark, renewed, await markOf()]).size).toBe(3);
      }),
    );

    it(
      'claims a turn whose lease the caller has found lost, whatever its stored end says, unless it was renewed or claimed since',
      withStore(async (store) => {
        const far = { owner: 'set back', milliseconds: 3_600_000 };
        const turn = await sendAndClaim(store, randomUUID(), { claim: far });
        const before = await store.readLeases();
        await store.renewLeases({ ...far, milliseconds: 3_700_000 }, [turn.id]);
        expect(await store.claimAbandoned(OTHER, before, 5)).toEqual([]);
        const now = await store.readLeases();
        expect(await store.claimAbandoned(OTHER, now, 5)).toMatchObject([
          { id: turn.id, losses: 1, attempt: 2 },
        ]);
        expect(await store.claimAbandoned(LEASE, now, 5)).toEqual([]);
        expect(await store.saveProgress(turn, progress(), T0)).toBe('lost');
      }),
    );

    it(
      'leaves a turn alone whose stored end is past until a caller has found its lease lost',
      withStore(async (store) => {
        await sendAndClaim(store, randomUUID(), { claim: LOST });
        expect(await store.claimAbandoned(OTHER, [], 5)).toEqual([]);
      }),
    );

    it(
      'gives a released turn to anybody without counting a loss',
      withStore(async (store) => {
        const turn = await sendAndClaim(store, randomUUID());
        await store.releaseTurns('somebody else', [turn.id]);
        expect(await claimFree(store, OTHER, 5)).toEqual([]);
        await store.releaseTurns(LEASE.owner, [turn.id]);
        expect(await store.endTurn(turn, ending())).toBe('lost');
        expect(await store.renewLeases(LEASE, [turn.id])).toEqual([]);
        expect(await claimFree(store, OTHER, 5)).toMatchObject([{ id: turn.id, attempt: 2, losses: 0 }]);
      }),
    );

    it(
      'takes over a running turn from a living owner, and only a running one',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id);
        const waiting = await send(store, id);
        const taken = await store.takeOver(turn.id, OTHER);
        expect(taken).toEqual({ ...turn, owner: OTHER.owner, attempt: 2 });
        expect(await store.takeOver(waiting.turn.id, OTHER)).toBeUndefined();
        expect(await store.takeOver(randomUUID(), OTHER)).toBeUndefined();
        if (taken !== undefined) await end(store, taken);
        expect(await store.takeOver(turn.id, OTHER)).toBeUndefined();
      }),
    );

    it(
      'claims lost turns first, then the heads of idle queues, one of a session, up to the limit',
      withStore(async (store) => {
        const [lost, idle, busy] = [randomUUID(), randomUUID(), randomUUID()];
        const idleHead = await send(store, idle);
        await send(store, idle);
        await sendAndClaim(store, busy);
        await send(store, busy);
        const lostTurn = await sendAndClaim(store, lost, { claim: LOST });
        await send(store, lost);

        expect(await claimFree(store, OTHER, 1)).toMatchObject([{ id: lostTurn.id, attempt: 2 }]);
        const rest = await claimFree(store, OTHER, 5);
        expect(rest).toMatchObject([{ id: idleHead.turn.id, attempt: 1, losses: 0, owner: OTHER.owner }]);
        expect(await claimFree(store, OTHER, 5)).toEqual([]);
      }),
    );

    it(
      'gives a turn to one of several who ask together',
      withStore(async (store) => {
        await sendAndClaim(store, randomUUID(), { claim: LOST });
        const claims = await Promise.all(
          ['a', 'b', 'c', 'd'].map((owner) => claimFree(store, { owner, milliseconds: 60_000 }, 5)),
        );
        expect(claims.flat()).toHaveLength(1);
      }),
    );
  });
}
