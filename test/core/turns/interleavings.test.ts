import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryBus } from '../../../src/adapters/bus/memory/bus.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, created, message, spoken, testCore, TEST_SETTINGS } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

/** The points at which a held call of a store operation waits. */
interface Hold {
  /** Opened when the operation is called, before it runs. */
  readonly called: Gate;
  /** To be opened by the test, to let the operation run. */
  readonly go: Gate;
  /** Opened when the operation has run, before the caller has its result. */
  readonly done: Gate;
  /** To be opened by the test, to deliver the result to the caller. */
  readonly delivery: Gate;
}

/** A store whose operations the test can hold, one call at a time. */
function heldStore() {
  const memory = createMemoryStore();
  const holds = new Map<string, Hold>();
  const pass = async <T>(name: string, step: () => Promise<T>): Promise<T> => {
    const hold = holds.get(name);
    if (hold === undefined) return step();
    holds.delete(name);
    hold.called.open();
    await hold.go.passed;
    const result = await step();
    hold.done.open();
    await hold.delivery.passed;
    return result;
  };
  const store: Store = {
    ...memory,
    acceptMessage: (...given) => pass('acceptMessage', () => memory.acceptMessage(...given)),
    interruptTurns: (...given) => pass('interruptTurns', () => memory.interruptTurns(...given)),
    endTurn: (...given) => pass('endTurn', () => memory.endTurn(...given)),
    saveProgress: (...given) => pass('saveProgress', () => memory.saveProgress(...given)),
    deleteSession: (...given) => pass('deleteSession', () => memory.deleteSession(...given)),
    claimAbandoned: (...given) => pass('claimAbandoned', () => memory.claimAbandoned(...given)),
    addNote: (...given) => pass('addNote', () => memory.addNote(...given)),
    releaseTurns: (...given) => pass('releaseTurns', () => memory.releaseTurns(...given)),
  };
  const hold = (name: keyof Store): Hold => {
    const held = { called: new Gate(), go: new Gate(), done: new Gate(), delivery: new Gate() };
    holds.set(name, held);
    return held;
  };
  /** Runs the operation immediately, and holds its result. */
  const holdResult = (name: keyof Store): Hold => {
    const held = hold(name);
    held.go.open();
    return held;
  };
  /** Holds the operation, and delivers its result immediately. */
  const holdStep = (name: keyof Store): Hold => {
    const held = hold(name);
    held.delivery.open();
    return held;
  };
  return { store, holdResult, holdStep };
}

function nodes(mirrorMs = 0) {
  const { store, ...held } = heldStore();
  const bus = createMemoryBus();
  const clock = new FakeClock();
  const node = () => {
    const rig = new ScriptedRig();
    return { ...testCore({ rigs: [rig], store, bus, clock, settings: { mirrorMs } }), rig };
  };
  return { store, ...held, clock, first: node(), second: node() };
}

describe('a deletion', () => {
  it('leaves the turn alone when the store does not delete the session', async () => {
    const memory = createMemoryStore();
    const store: Store = {
      ...memory,
      deleteSession: () => Promise.reject(new StoreUnavailableError('down')),
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    const id = uuid();
    const sent = await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    await expect(core.deleteSession(id)).rejects.toThrow(StoreUnavailableError);
    expect(asked.signal.aborted).toBe(false);
    asked.text('Hello').end();
    await core.turnEnded(sent, new AbortController().signal);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Hello']);
  });

  it('keeps showing the session that was created again before its result arrived', async () => {
    const { first, holdResult, clock } = nodes(60_000);
    const id = uuid();
    await first.core.send(message(id, 'old'));
    await first.rig.next();
    const deletion = holdResult('deleteSession');
    const deleting = first.core.deleteSession(id);
    await deletion.done.passed;
    await first.core.send(message(id, 'new'));
    const asked = await first.rig.next();
    deletion.delivery.open();
    await deleting;
    await first.core.snapshot(created(id));
    asked.text('Hello').end();
    await clock.passUntil(first.core.drain(10_000));
    expect(spoken(await first.core.snapshot(created(id)))).toEqual(['user: new', 'assistant: Hello']);
  });

  it('stops no turn of the session that was created again before its result arrived', async () => {
    const { first, holdResult } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'old'));
    const old = await first.rig.next();
    const deletion = holdResult('deleteSession');
    const deleting = first.core.deleteSession(id);
    await deletion.done.passed;
    const sent = await first.core.send(message(id, 'new'));
    const asked = await first.rig.next();
    deletion.delivery.open();
    await deleting;
    expect([old.signal.aborted, asked.signal.aborted]).toEqual([true, false]);
    asked.text('Hello').end();
    await first.core.turnEnded(sent, new AbortController().signal);
    expect(spoken(await first.core.snapshot(created(id)))).toEqual(['user: new', 'assistant: Hello']);
  });

  it('stops a turn whose end is being stored, and the queue behind it', async () => {
    const { first, second, holdStep, store } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'one'));
    await first.core.send(message(id, 'two'));
    const end = holdStep('endTurn');
    (await first.rig.next()).text('Hello').end();
    await end.called.passed;
    await second.core.deleteSession(id);
    end.go.open();
    await first.core.drain(60_000);
    expect(first.rig.asked).toHaveLength(1);
    expect(await store.loadThread(id)).toBe('deleted');
  });

  it('stops a turn that was accepted before it and begins after it', async () => {
    const { first, second, holdResult, store, clock } = nodes();
    await first.core.start();
    const id = uuid();
    const acceptance = holdResult('acceptMessage');
    const sending = first.core.send(message(id, 'Hi'));
    await acceptance.done.passed;
    await second.core.deleteSession(id);
    acceptance.delivery.open();
    await sending;
    const asked = await first.rig.next();
    await clock.advance(TEST_SETTINGS.renewMs);
    expect(asked.signal.aborted).toBe(true);
    await expect(first.core.snapshot({ id, ifUnknown: 'refuse' })).rejects.toMatchObject({
      reason: 'not_found',
    });
    expect(await store.loadThread(id)).toBe('deleted');
  });

  it('is no failure of a turn that was accepted before it and reads its thread after it', async () => {
    const { first, second, holdResult } = nodes();
    const id = uuid();
    for (const { core, rig } of [first, second]) {
      const sent = await core.send(message(id, 'Hi'));
      (await rig.next()).text('Hello').end();
      await core.turnEnded(sent, new AbortController().signal);
    }
    const acceptance = holdResult('acceptMessage');
    const sending = first.core.send(message(id, 'And?'));
    await acceptance.done.passed;
    await second.core.deleteSession(id);
    acceptance.delivery.open();
    await sending;
    await first.core.drain(60_000);
    expect(first.rig.asked).toHaveLength(1);
    expect(first.log.lines.join()).not.toContain('left a turn');
  });

  it.each(['first', 'second'] as const)(
    'on the %s node leaves nothing of the session beside a note that is stored after it',
    async (node) => {
      const all = nodes();
      const { first, holdStep } = all;
      const id = uuid();
      const sent = await first.core.send(message(id, 'Secret'));
      (await first.rig.next()).text('Hello').end();
      await first.core.turnEnded(sent, new AbortController().signal);
      const noting = holdStep('addNote');
      const noted = first.core.report(created(id), 'A note');
      await noting.called.passed;
      await all[node].core.deleteSession(id);
      noting.go.open();
      await noted;
      expect(spoken(await first.core.snapshot(created(id)))).toEqual(['system: A note']);
    },
  );
});

describe('an interrupt', () => {
  it('that the store receives after the end of the turn ends the turn that was claimed next', async () => {
    const { first, holdStep, holdResult, clock } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'one'));
    await first.core.send(message(id, 'two'));
    await first.core.send(message(id, 'three'));
    (await first.rig.next()).text('Some');
    const mark = holdStep('interruptTurns');
    const end = holdResult('endTurn');
    const interrupting = first.core.interrupt(created(id));
    await mark.called.passed;
    await end.done.passed;
    // The second turn is claimed in the store, but does not run on this node yet.
    mark.go.open();
    await clock.advance(0);
    end.delivery.open();
    expect(await clock.passUntil(interrupting)).toBe(true);
    const ended = await first.core.snapshot(created(id));
    expect([ended.status, spoken(ended)]).toEqual([
      'interrupted',
      ['user: one', 'assistant: Some', 'user: two', 'user: three'],
    ]);
    expect(first.log.lines.filter((line) => line.includes('fenced off'))).toEqual([]);
  });

  it('does not affect a message that arrives between the interrupt and the end of the turn', async () => {
    const { first, holdStep, clock } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'one'));
    (await first.rig.next()).text('Some');
    const end = holdStep('endTurn');
    const interrupting = first.core.interrupt(created(id));
    await end.called.passed;
    await first.core.send(message(id, 'two'));
    end.go.open();
    expect(await clock.passUntil(interrupting)).toBe(true);
    const asked = await first.rig.next();
    expect(asked.signal.aborted).toBe(false);
    asked.text('Hello').end();
    await clock.passUntil(first.core.drain(60_000));
    expect(spoken(await first.core.snapshot(created(id)))).toEqual([
      'user: one',
      'assistant: Some',
      'user: two',
      'assistant: Hello',
    ]);
  });

  it('during a takeover ends the turn once, on the node that takes it over', async () => {
    const { first, second, store, holdStep, clock } = nodes();
    const id = uuid();
    const { turnId } = await first.core.send(message(id, 'Hi'));
    (await first.rig.next()).text('Some');
    await clock.advance(700);
    await store.takeOver(turnId, { owner: 'lost', milliseconds: 1 });
    await store.releaseTurns('lost', [turnId]);
    const claim = holdStep('claimAbandoned');
    const starting = second.core.start();
    await claim.called.passed;
    const interrupting = first.core.interrupt(created(id));
    claim.go.open();
    await clock.passUntil(Promise.all([starting, interrupting]));
    const ended = await second.core.snapshot(created(id));
    expect([ended.status, spoken(ended)]).toEqual(['interrupted', ['user: Hi', 'assistant: Some']]);
  });
});

describe('a drain', () => {
  it('waits for a queued turn that was claimed when it began', async () => {
    const { first, holdResult, clock } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'one'));
    await first.core.send(message(id, 'two'));
    const end = holdResult('endTurn');
    (await first.rig.next()).text('Hello').end();
    await end.done.passed;
    const draining = first.core.drain(60_000);
    end.delivery.open();
    const asked = await first.rig.next();
    await clock.advance(0);
    expect(asked.signal.aborted).toBe(false);
    asked.text('Bye').end();
    await clock.passUntil(draining);
    expect(spoken(await first.core.snapshot(created(id)))).toEqual([
      'user: one',
      'assistant: Hello',
      'user: two',
      'assistant: Bye',
    ]);
  });

  it('hands over a turn that starts while others are handed over', async () => {
    const { first, second, holdStep, holdResult, clock } = nodes();
    const [early, late] = [uuid(), uuid()];
    await first.core.send(message(early, 'early'));
    await first.rig.next();
    const accepted = holdResult('acceptMessage');
    const sent = first.core.send(message(late, 'late'));
    await accepted.done.passed;
    const release = holdStep('releaseTurns');
    const draining = first.core.drain(0);
    await clock.passUntil(release.called.passed);
    accepted.delivery.open();
    await sent;
    const asked = await first.rig.next();
    release.go.open();
    await clock.passUntil(draining);
    expect(asked.signal.aborted).toBe(true);
    await second.core.start();
    for (const _ of [early, late]) (await second.rig.next()).text('Hello').end();
    await clock.passUntil(second.core.drain(60_000));
    expect(spoken(await second.core.snapshot(created(late)))).toEqual(['user: late', 'assistant: Hello']);
  });

  it('leaves the queue to other nodes', async () => {
    const { first, second, clock } = nodes();
    const id = uuid();
    await first.core.send(message(id, 'one'));
    await first.core.send(message(id, 'two'));
    await first.rig.next();
    await clock.passUntil(first.core.drain(0));
    await second.core.start();
    (await second.rig.next()).text('Hello').end();
    (await second.rig.next()).text('Bye').end();
    await clock.passUntil(second.core.drain(60_000));
    expect(spoken(await second.core.snapshot(created(id)))).toEqual([
      'user: one',
      'assistant: Hello',
      'user: two',
      'assistant: Bye',
    ]);
  });
});
