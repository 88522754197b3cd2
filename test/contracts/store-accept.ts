import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Quota } from '../../src/core/model/quota.js';
import {
  acceptance,
  claimFree,
  contents,
  end,
  LEASE,
  loaded,
  record,
  send,
  sendAndClaim,
  T0,
  versionOf,
  type WithStore,
} from './store-fixtures.js';

/** What accepting a message must do. */
export function acceptContract(withStore: WithStore): void {
  describe('accepting a message', () => {
    it(
      'stores the session, the message and a queued turn in one step',
      withStore(async (store) => {
        const id = randomUUID();
        const asked = acceptance(id, { text: 'hi 🎭', clientId: 'c', app: 'shop', set: { wallet: 'w' } });
        const accepted = await store.acceptMessage(asked);
        const turn = {
          ...{ id: asked.turnId, sessionId: id, no: 1, app: 'shop', clientId: 'c', keyId: null },
          ...{ status: 'queued', createdAt: T0, error: null },
        };
        const message = {
          ...{ id: asked.messageId, turnId: asked.turnId, turnNo: 1, position: 0, role: 'user' },
          ...{ content: 'hi 🎭', toolCalls: null, toolResults: null, createdAt: T0 },
        };
        expect(accepted).toEqual({
          kind: 'accepted',
          session: expect.objectContaining({ id, wallet: 'w', app: 'shop', revision: 1, version: 1 }),
          created: true,
          turn,
          message,
          claimed: null,
          interruption: { cancelled: [], running: null },
          commit: { revision: 1, events: [] },
        });
        const thread = await loaded(store, id);
        expect(thread.settled).toEqual([]);
        expect(thread.open).toEqual([{ turn, messages: [message], partialText: '', partialSince: 0 }]);
        expect(await store.readTurn(id, asked.turnId)).toEqual({ turn, messages: [message] });
        expect(await store.readTurn(randomUUID(), asked.turnId)).toBeUndefined();
      }),
    );

    it(
      'claims the turn when asked and nothing else is open',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await send(store, id, { claim: LEASE });
        expect(first.turn.status).toBe('running');
        expect(first.claimed).toEqual({
          ...first.turn,
          owner: LEASE.owner,
          attempt: 1,
          losses: 0,
          cancelRequested: false,
          partialText: '',
          partialSince: 0,
        });
        const second = await send(store, id, { claim: LEASE });
        expect(second).toMatchObject({ claimed: null, turn: { no: 2, status: 'queued' } });
      }),
    );

    it(
      'never lets a turn overtake one that waits',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await send(store, id);
        expect(await send(store, id, { claim: LEASE })).toMatchObject({ claimed: null });
        expect((await claimFree(store, LEASE, 5)).map((turn) => turn.id)).toEqual([first.turn.id]);
      }),
    );

    it(
      'counts a version only for fields that change, the App among them',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { set: { wallet: 'w' } });
        expect((await send(store, id, { set: { wallet: 'w' } })).session).toMatchObject({
          version: 1,
          revision: 2,
        });
        expect((await send(store, id, { app: 'shop' })).session).toMatchObject({ version: 2, revision: 3 });
        const userState = { tree: { a: true }, flat: false };
        expect(
          (await send(store, id, { app: 'shop', set: { userState }, at: T0 + 3 })).session,
        ).toMatchObject({
          ...{ version: 3, revision: 4, userState, activeAt: T0 + 3, createdAt: T0 },
        });
      }),
    );

    it(
      'refuses a stale version and stores nothing',
      withStore(async (store) => {
        const id = randomUUID();
        expect(await store.acceptMessage(acceptance(id, { ifVersion: 3 }))).toEqual({ kind: 'stale' });
        expect(await store.loadThread(id)).toBe('unknown');
        await send(store, id, { set: { title: 'x' } });
        expect(await store.acceptMessage(acceptance(id, { set: { title: 'y' } }))).toEqual({ kind: 'stale' });
        expect(await contents(store, id)).toEqual(['hello']);
        expect((await loaded(store, id)).session).toMatchObject({ title: 'x', revision: 1 });
      }),
    );

    it(
      'numbers concurrent messages without a gap, each in the order of its answer',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id);
        const version = await versionOf(store, id);
        const all = await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            store.acceptMessage(acceptance(id, { ifVersion: version, text: String(n), maxQueued: 100 })),
          ),
        );
        const nos = all.map((accepted) => (accepted.kind === 'accepted' ? accepted.turn.no : accepted.kind));
        expect([...nos].sort((a, b) => Number(a) - Number(b))).toEqual(
          Array.from({ length: 50 }, (_, n) => n + 2),
        );
        const revisions = new Set(
          all.map((accepted) => accepted.kind === 'accepted' && accepted.commit.revision),
        );
        expect(revisions.size).toBe(50);
        const { open } = await loaded(store, id);
        expect(open.map(({ turn }) => turn.no)).toEqual(Array.from({ length: 51 }, (_, n) => n + 1));
      }),
    );

    it(
      'writes nothing for a message over its quota',
      withStore(async (store) => {
        const id = randomUUID();
        const quota = (subject: string, limit: number): Quota => ({
          ...{ subject, measure: 'turns', from: T0, milliseconds: 1_000, limit },
        });
        const spent = quota('key:spent', 1);
        await send(store, randomUUID(), { quotas: [spent] });
        const quotas = [quota(`session:${id}`, 5), spent];
        expect(await store.acceptMessage(acceptance(id, { quotas }))).toEqual({
          kind: 'over_quota',
          quota: spent,
        });
        expect(await store.countRequest(quotas)).toEqual(spent);
        expect(await store.readUses(0, 10)).toEqual([
          { subject: 'key:spent', measure: 'turns', from: T0, amount: 1 },
        ]);
        expect(await store.loadThread(id)).toBe('unknown');
      }),
    );

    it(
      'creates a session once, whichever request comes first',
      withStore(async (store) => {
        const id = randomUUID();
        const all = await Promise.all([1, 2, 3, 4].map(() => store.acceptMessage(acceptance(id))));
        expect(all.map(({ kind }) => kind).sort()).toEqual(['accepted', 'stale', 'stale', 'stale']);
        expect(await contents(store, id)).toEqual(['hello']);
      }),
    );
  });

  describe('idempotency', () => {
    const key = { key: 'k', fingerprint: 'f', notBefore: T0 };

    it(
      'recognises a repeat before anything else is looked at, also of a turn that has ended',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { idempotency: key });
        const repeat = () =>
          store.acceptMessage(
            acceptance(id, { ifVersion: 77, busy: 'reject', idempotency: key, set: { title: 'x' } }),
          );
        expect(await repeat()).toEqual({ kind: 'repeated', turnId: turn.id });
        await end(store, turn, { outcome: 'interrupted' });
        expect(await repeat()).toEqual({ kind: 'repeated', turnId: turn.id });
        expect(await contents(store, id)).toEqual(['hello']);
        expect((await loaded(store, id)).session).toMatchObject({ title: 'New Chat', interrupted: true });
      }),
    );

    it(
      'refuses a key that was used for something else, within one session',
      withStore(async (store) => {
        const [id, other] = [randomUUID(), randomUUID()];
        await send(store, id, { idempotency: key });
        const reused = acceptance(id, { ifVersion: 1, idempotency: { ...key, fingerprint: 'g' } });
        expect(await store.acceptMessage(reused)).toEqual({ kind: 'key_reused' });
        expect(await contents(store, id)).toEqual(['hello']);
        expect(await send(store, other, { idempotency: { ...key, fingerprint: 'g' } })).toMatchObject({
          created: true,
        });
      }),
    );

    it(
      'forgets a key that is too old',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { idempotency: key });
        const later = { key: 'k', fingerprint: 'g', notBefore: T0 + 1 };
        const again = await send(store, id, { idempotency: later, at: T0 + 2 });
        expect(again.turn.no).toBe(2);
        const repeat = await store.acceptMessage(acceptance(id, { idempotency: later, at: T0 + 3 }));
        expect(repeat).toEqual({ kind: 'repeated', turnId: again.turn.id });
      }),
    );

    it(
      'leaves a key unused when the message is refused',
      withStore(async (store) => {
        const id = randomUUID();
        await sendAndClaim(store, id);
        const refused = acceptance(id, { ifVersion: 1, busy: 'reject', idempotency: key });
        expect(await store.acceptMessage(refused)).toEqual({ kind: 'busy' });
        expect(await send(store, id, { idempotency: { ...key, fingerprint: 'g' } })).toMatchObject({
          kind: 'accepted',
        });
      }),
    );

    it(
      'starts one turn for repeats that arrive together',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id);
        const ifVersion = await versionOf(store, id);
        const all = await Promise.all(
          Array.from({ length: 10 }, () =>
            store.acceptMessage(acceptance(id, { ifVersion, idempotency: key })),
          ),
        );
        const turnIds = all.map((one) =>
          one.kind === 'accepted' ? one.turn.id : one.kind === 'repeated' ? one.turnId : one.kind,
        );
        expect(new Set(turnIds).size).toBe(1);
        expect(all.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
        expect(await contents(store, id)).toHaveLength(2);
      }),
    );
  });

  describe('a busy thread', () => {
    it(
      'rejects while a turn is open, queued or running, and takes again after',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id);
        const rejected = () => store.acceptMessage(acceptance(id, { ifVersion: 1, busy: 'reject' }));
        expect(await rejected()).toEqual({ kind: 'busy' });
        const [turn] = await claimFree(store, LEASE, 1);
        expect(await rejected()).toEqual({ kind: 'busy' });
        if (turn === undefined) throw new Error('nothing was claimed');
        await end(store, turn);
        expect(await rejected()).toMatchObject({ kind: 'accepted' });
      }),
    );

    it(
      'queues up to the limit, the running turn not counted',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { maxQueued: 2 });
        await send(store, id, { maxQueued: 2 });
        await send(store, id, { maxQueued: 2 });
        const more = () => store.acceptMessage(acceptance(id, { ifVersion: 1, maxQueued: 2 }));
        expect(await more()).toEqual({ kind: 'queue_full' });
        expect(await contents(store, id)).toHaveLength(3);
        await end(store, turn, { claimNext: LEASE });
        expect(await more()).toMatchObject({ kind: 'accepted', turn: { no: 4 } });
      }),
    );

    it(
      'with `interrupt`, cancels what waits, marks what runs, and queues the new turn',
      withStore(async (store) => {
        const id = randomUUID();
        const running = await sendAndClaim(store, id, { text: 'q1' });
        const waiting = [await send(store, id, { text: 'q2' }), await send(store, id, { text: 'q3' })];
        const accepted = await send(store, id, { text: 'q4', busy: 'interrupt', maxQueued: 0, claim: LEASE });
        expect(accepted).toMatchObject({ claimed: null, turn: { no: 4, status: 'queued' } });
        expect(accepted.interruption.running).toMatchObject({ id: running.id, status: 'running' });
        expect(accepted.interruption.cancelled).toEqual(
          waiting.map(({ turn }) => ({ ...turn, status: 'interrupted' })),
        );
        expect(await store.renewLeases(LEASE, [running.id])).toEqual([
          { turnId: running.id, cancelRequested: true },
        ]);
        const { open, settled, session } = await loaded(store, id);
        expect(open.map(({ turn }) => turn.no)).toEqual([1, 4]);
        expect(settled.map(({ content }) => content)).toEqual(['q2', 'q3']);
        expect(session.interrupted).toBe(false);

        const messages = [record(running, 1)];
        const { next } = await end(store, running, { outcome: 'interrupted', messages, claimNext: LEASE });
        expect(next).toMatchObject({ id: accepted.turn.id, cancelRequested: false });
        expect(await contents(store, id)).toEqual(['q1', 'answer 1.1', 'q2', 'q3', 'q4']);
        expect((await loaded(store, id)).session.interrupted).toBe(false);
      }),
    );

    it(
      'with `interrupt`, claims the new turn when nothing ran',
      withStore(async (store) => {
        const id = randomUUID();
        const waiting = await send(store, id);
        const accepted = await send(store, id, { busy: 'interrupt', claim: LEASE });
        expect(accepted.interruption).toEqual({
          cancelled: [{ ...waiting.turn, status: 'interrupted' }],
          running: null,
        });
        expect(accepted.claimed).toMatchObject({ no: 2, attempt: 1 });
      }),
    );
  });
}
