import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { failuresIn, shownCount, textBytes, type Message } from '../../src/core/model/message.js';
import type { Store } from '../../src/core/ports/store.js';
import type { StoredTail } from '../../src/core/ports/stored-thread.js';
import {
  acceptance,
  contents,
  end,
  LEASE,
  loaded,
  record,
  send,
  sendAndClaim,
  T0,
  type WithStore,
} from './store-fixtures.js';

const CALL = { callId: 'c1', name: 'look_up', args: { text: 'größer 🦑' } };
const RESULT = { callId: 'c1', name: 'look_up', result: { at: ['日本'] }, failed: false, multiStep: false };

async function tailOf(store: Store, id: string, count: number): Promise<StoredTail> {
  const tail = await store.loadTail(id, count);
  if (typeof tail === 'string') throw new Error(`the session is ${tail}`);
  return tail;
}

/** The thread as `loadThread` has it. */
async function allOf(store: Store, id: string): Promise<readonly Message[]> {
  const { settled, open } = await loaded(store, id);
  return [...settled, ...open.flatMap(({ messages }) => messages)];
}

/**
 * Fails unless the store counts the thread as what it holds: its messages, and its bytes by the message that it has no
 * room for.
 */
async function expectCounted(store: Store, id: string): Promise<void> {
  const all = await allOf(store, id);
  const bytes = all.reduce((sum, message) => sum + textBytes(message), 0);
  expect(await tailOf(store, id, 0)).toMatchObject({
    shown: all.reduce((sum, message) => sum + shownCount(message), 0),
    failures: failuresIn(all),
  });
  const { version } = (await loaded(store, id)).session;
  const full = await store.acceptMessage(acceptance(id, { ifVersion: version, maxSessionBytes: bytes }));
  expect(full).toEqual({ kind: 'full', bytes });
}

/** How large threads are, and what is read of them. */
export function sizeContract(withStore: WithStore): void {
  describe('the size of a thread', () => {
    it(
      'counts messages, steps with calls and results, replaced records and the words of a failure',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: 'Wie groß?' });
        await expectCounted(store, id);
        const step = record(turn, 1, { content: '', toolCalls: [CALL] });
        const save = (messages: Message[]) =>
          store.saveProgress(turn, { messages, events: [], partialText: '' }, T0);
        await save([step]);
        await expectCounted(store, id);
        await save([{ ...step, toolResults: [RESULT, { ...RESULT, callId: 'c2' }] }]);
        await expectCounted(store, id);
        await send(store, id, { text: 'und jetzt?' });
        const messages = [
          { ...step, content: 'so', toolResults: [RESULT] },
          record(turn, 2, { content: '日本語' }),
          record(turn, 3, { role: 'system', content: 'It failed.' }),
        ];
        await end(store, turn, { outcome: 'failed', error: 'It failed.', messages });
        await expectCounted(store, id);
        expect(await tailOf(store, id, 0)).toMatchObject({ shown: 6, failures: 1 });
      }),
    );

    it(
      'is that of the new thread when a deleted session comes back',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: 'x'.repeat(1000) });
        await end(store, turn, { messages: [record(turn, 1)] });
        await store.deleteSession(id, T0);
        await send(store, id, { text: 'again' });
        await expectCounted(store, id);
      }),
    );

    it(
      'refuses the first byte too much, stores nothing of it, and takes what fits',
      withStore(async (store) => {
        const id = randomUUID();
        const turn = await sendAndClaim(store, id, { text: '1234567890' });
        const asked = { ifVersion: 1, maxSessionBytes: 20 };
        const revision = await store.revisionOf(id);
        const idempotency = { key: 'k', fingerprint: 'f', notBefore: 0 };
        const quotas = [{ subject: 's', measure: 'turns', from: 0, limit: 1, milliseconds: 1 } as const];
        const long = acceptance(id, {
          ...asked,
          text: 'größeres 🦑',
          idempotency,
          quotas,
          busy: 'interrupt',
        });
        expect(await store.acceptMessage(long)).toEqual({ kind: 'full', bytes: 10 });
        expect(await store.revisionOf(id)).toBe(revision);
        expect(await store.renewLeases(LEASE, [turn.id])).toEqual([
          { turnId: turn.id, cancelRequested: false },
        ]);
        const fits = acceptance(id, { ...asked, text: '🦑🦑12', idempotency, quotas });
        expect(await store.acceptMessage(fits)).toMatchObject({ kind: 'accepted' });
        // A repeat is one, however full the thread is.
        expect(await store.acceptMessage(fits)).toMatchObject({ kind: 'repeated' });
        // What a turn adds is stored in any case.
        await end(store, turn, { messages: [record(turn, 1)] });
        expect(await contents(store, id)).toEqual(['1234567890', 'answer 1.1', '🦑🦑12']);
      }),
    );

    it(
      'bounds a session that is not there yet, which is then not made',
      withStore(async (store) => {
        const id = randomUUID();
        const asked = acceptance(id, { text: '123456', maxSessionBytes: 5 });
        expect(await store.acceptMessage(asked)).toEqual({ kind: 'full', bytes: 0 });
        expect(await store.loadThread(id)).toBe('unknown');
      }),
    );

    it(
      'is never exceeded by messages that come at once',
      withStore(async (store) => {
        const id = randomUUID();
        await send(store, id, { text: '1234567890' });
        const asked = () => acceptance(id, { ifVersion: 1, text: '1234567890', maxSessionBytes: 55 });
        const outcomes = await Promise.all(
          Array.from({ length: 12 }, async () => (await store.acceptMessage(asked())).kind),
        );
        expect(outcomes.filter((kind) => kind === 'accepted')).toHaveLength(4);
        expect(outcomes.filter((kind) => kind === 'full')).toHaveLength(8);
      }),
    );
  });

  describe('the end of a thread', () => {
    it(
      'has the last records that show something, in order, with the session and its open turns',
      withStore(async (store) => {
        const id = randomUUID();
        const first = await sendAndClaim(store, id, { text: 'q1' });
        const step = record(first, 1, { content: '', toolCalls: [CALL], toolResults: [RESULT, RESULT] });
        await end(store, first, {
          messages: [step, record(first, 2)],
          outcome: 'failed',
          error: 'It failed.',
        });
        const second = await sendAndClaim(store, id, { text: 'q2' });
        const calling = record(second, 1, { content: '', toolCalls: [CALL] });
        const waiting = await send(store, id, { text: 'q3' });
        await store.saveProgress(second, { messages: [calling], events: [], partialText: 'half' }, T0);

        const { session, faults } = await loaded(store, id);
        const all = (await allOf(store, id)).filter((message) => message.id !== calling.id);
        const whole = await tailOf(store, id, 1000);
        expect(whole).toEqual({
          session,
          messages: all,
          shown: 6,
          failures: 0,
          open: [
            {
              turn: expect.objectContaining({ id: second.id, status: 'running' }),
              partialText: 'half',
              partialSince: 0,
            },
            { turn: waiting.turn, partialText: '', partialSince: 0 },
          ],
          faults,
        });
        const contentsOf = async (count: number) =>
          (await tailOf(store, id, count)).messages.map(({ content }) => content);
        expect(await contentsOf(0)).toEqual([]);
        expect(await contentsOf(1)).toEqual(['q3']);
        expect(await contentsOf(2)).toEqual(['q2', 'q3']);
        expect((await contentsOf(4)).slice(-4)).toEqual(['', 'answer 1.2', 'q2', 'q3']);
        expect(await store.loadTail(randomUUID(), 1)).toBe('unknown');
        await store.deleteSession(id, T0);
        expect(await store.loadTail(id, 1)).toBe('deleted');
      }),
    );

    it(
      'is whole in a thread of thousands of messages, with turns that were cancelled behind the running one',
      withStore(async (store) => {
        const id = randomUUID();
        const long = await sendAndClaim(store, id);
        const many = Array.from({ length: 1_200 }, (_, index) => record(long, index + 1));
        await end(store, long, { messages: many });
        const running = await sendAndClaim(store, id, { text: 'q2' });
        await send(store, id, { text: 'q3' });
        await send(store, id, { text: 'q4', busy: 'interrupt' });
        const { messages, shown, open } = await tailOf(store, id, 1_100);
        expect(shown).toBe(1_204);
        expect(messages).toHaveLength(1_100);
        expect(messages.slice(-3).map(({ content }) => content)).toEqual(['q2', 'q3', 'q4']);
        expect(messages[0]).toEqual(many.at(-1_097));
        expect(open.map(({ turn }) => turn.no)).toEqual([running.no, 4]);
      }),
    );
  });
}
