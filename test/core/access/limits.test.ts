import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { RigError, type Rig } from '../../../src/core/ports/rig.js';
import { NO_LIMITS, requestQuotas, turnQuotas, type Limits } from '../../../src/core/model/quota.js';
import { closeTestCores, collectUntil, created, message, spoken, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

beforeEach(() => {
  // Neither a minute nor a day may turn within a test: the date alone stands still.
  jest.useFakeTimers({
    now: Date.UTC(2026, 4, 6, 12),
    doNotFake: [
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
    ],
  });
});
afterEach(async () => {
  await closeTestCores();
  jest.useRealTimers();
});

const never = new AbortController().signal;

function limited(session: Partial<Limits>) {
  return { limits: { session: { ...NO_LIMITS, ...session }, key: NO_LIMITS } };
}

describe('limits', () => {
  it('bound the turns of a session a day, also after a restart, and say when to come back', async () => {
    const store = createMemoryStore();
    const settings = limited({ turnsPerDay: 2 });
    const { core } = testCore({ rigs: [new ScriptedRig()], store, settings });
    const id = uuid();
    await core.send(message(id, 'one'));
    await core.send(message(id, 'two', { idempotencyKey: 'k' }));
    const { core: restarted } = testCore({ rigs: [new ScriptedRig()], store, settings });
    const refusal = await restarted.send(message(id, 'three')).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      reason: 'too_many',
      message: 'This session has used up its 2 turns a day (UTC)',
    });
    const seconds = refusal instanceof Error && 'retryAfter' in refusal ? Number(refusal.retryAfter) : 0;
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    // A repeat starts no turn, so that it is not one too many.
    expect((await restarted.send(message(id, 'two', { idempotencyKey: 'k' }))).repeated).toBe(true);
    expect(spoken(await restarted.snapshot(created(id)))).toEqual(['user: one', 'user: two']);
    // Another session has its own.
    await expect(restarted.send(message(uuid(), 'hello'))).resolves.toMatchObject({ repeated: false });
  });

  it('count the tokens that a provider bills, and estimate those of an answer that was cut short', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], settings: limited({ tokensPerDay: 100 }) });
    const [billed, cut] = [uuid(), uuid()];
    const sent = await core.send(message(billed, 'one'));
    (await rig.next()).text('hi').end({ inputTokens: 60, outputTokens: 40 });
    await core.turnEnded(sent, never);
    await expect(core.send(message(billed, 'two'))).rejects.toMatchObject({ reason: 'too_many' });

    const stopped = await core.send(message(cut, 'one'));
    const feed = await core.watchTurn(stopped);
    (await rig.next()).text('word '.repeat(200));
    await collectUntil(feed, ({ type }) => type === 'text');
    await core.interrupt(created(cut));
    await expect(core.send(message(cut, 'two'))).rejects.toMatchObject({ reason: 'too_many' });
  });

  it('estimate the tokens of an answer that was interrupted before it began, or whose provider reports none', async () => {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], settings: limited({ tokensPerDay: 100 }) });
    const [stopped, unreported] = [uuid(), uuid()];
    await core.send(message(stopped, 'word '.repeat(200)));
    await rig.next();
    await core.interrupt(created(stopped));
    await expect(core.send(message(stopped, 'two'))).rejects.toMatchObject({ reason: 'too_many' });

    const sent = await core.send(message(unreported, 'one'));
    (await rig.next()).text('word '.repeat(200)).end();
    await core.turnEnded(sent, never);
    await expect(core.send(message(unreported, 'two'))).rejects.toMatchObject({ reason: 'too_many' });
  });

  it('count the tokens of a turn whose session is deleted, and of one that is handed over', async () => {
    for (const leave of ['delete', 'close'] as const) {
      const rig = new ScriptedRig();
      const store = createMemoryStore();
      const counted = jest.spyOn(store, 'countAttempts');
      const settings = limited({ tokensPerDay: 100 });
      const { core } = testCore({ rigs: [rig], store, settings });
      const id = uuid();
      const feed = await core.watchTurn(await core.send(message(id, 'one')));
      const asked = await rig.next();
      asked.text('word '.repeat(200));
      await collectUntil(feed, ({ type }) => type === 'text');
      await (leave === 'delete' ? core.deleteSession(id) : core.drain(0));
      await asked.left;
      // Drains wait for what is left of the turn.
      await core.drain(0);
      expect(counted).toHaveBeenCalledTimes(1);
      const { core: other } = testCore({ rigs: [new ScriptedRig()], store, settings });
      await expect(other.send(message(id, 'two'))).rejects.toMatchObject({ reason: 'too_many' });
    }
  });

  it('count the tokens that a provider bills for an answer that fails, and nothing beside them', async () => {
    const failing = (texts: readonly string[]): Rig => ({
      ...{ id: 'failing', name: 'failing', provider: 'test', contextTokens: 100_000 },
      attachedTokens: () => 0,
      check: () => Promise.resolve(undefined),
      respond: (request, _signal, take) => {
        if (request.purpose !== 'title') for (const text of texts) take({ type: 'text', text });
        take({ type: 'end', usage: { inputTokens: 60, outputTokens: 40.4 } });
        return Promise.reject(new RigError('no answer', { retryable: false }));
      },
    });
    for (const texts of [[], ['word '.repeat(200)]]) {
      const allows = async (tokensPerDay: number): Promise<boolean> => {
        const { core } = testCore({ rigs: [failing(texts)], settings: limited({ tokensPerDay }) });
        const id = uuid();
        await core.turnEnded(await core.send(message(id, 'one')), never);
        return core.send(message(id, 'two')).then(
          () => true,
          () => false,
        );
      };
      expect([await allows(100), await allows(101)]).toEqual([false, true]);
    }
  });

  it('count requests a minute', async () => {
    const { core } = testCore({ rigs: [new ScriptedRig()], settings: limited({ requestsPerMinute: 3 }) });
    expect(core.countsRequests).toBe(true);
    const asked = { sessionId: uuid(), key: undefined };
    const outcomes = await Promise.allSettled(Array.from({ length: 7 }, () => core.admit(asked)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(testCore({ rigs: [new ScriptedRig()] }).core.countsRequests).toBe(false);
  });

  it('have windows that begin at the full minute and at midnight UTC', () => {
    const settings = { session: { requestsPerMinute: 1, turnsPerDay: 2, tokensPerDay: 3 }, key: NO_LIMITS };
    const at = Date.UTC(2026, 4, 6, 7, 8, 9);
    const subjects = { sessionId: 's', keyId: 'k' };
    expect(requestQuotas(settings, subjects, at)).toEqual([
      {
        subject: 'session:s',
        measure: 'requests',
        from: Date.UTC(2026, 4, 6, 7, 8),
        milliseconds: 60_000,
        limit: 1,
      },
    ]);
    expect(turnQuotas(settings, subjects, at).map(({ measure, from }) => [measure, from])).toEqual([
      ['turns', Date.UTC(2026, 4, 6)],
      ['tokens', Date.UTC(2026, 4, 6)],
    ]);
  });
});
