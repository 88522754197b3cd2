import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { closeTestCores, message, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

type Claiming = 'endTurn' | 'acceptMessage' | 'claimAbandoned';

/** A node whose store can hold back the result of a call after it has taken effect. */
function nodeWithLate(method: Claiming, memory = createMemoryStore()) {
  const [taken, gate] = [new Gate(), new Gate()];
  let isHeld = false;
  const store = new Proxy(memory, {
    get(target, name, receiver) {
      const call: unknown = Reflect.get(target, name, receiver);
      if (name !== method || typeof call !== 'function') return call;
      return async (...given: unknown[]): Promise<unknown> => {
        const isThis = isHeld;
        isHeld = false;
        const result: unknown = await Reflect.apply(call, target, given);
        if (!isThis) return result;
        taken.open();
        await gate.passed;
        return result;
      };
    },
  });
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  const holdNext = (): void => {
    isHeld = true;
  };
  return { ...testCore({ rigs: [rig], store, clock }), rig, clock, gate, taken, holdNext };
}

describe('a claim whose result arrives after its session was deleted and created again', () => {
  it('does not stop the turn of the new session when a message claimed it', async () => {
    const { core, store, rig, clock, gate, taken, holdNext } = nodeWithLate('acceptMessage');
    const id = uuid();
    holdNext();
    const old = core.send(message(id, 'Old'));
    await taken.passed;
    await store.deleteSession(id, clock.now());
    await core.send(message(id, 'New'));
    const asked = await rig.next();
    gate.open();
    await old;
    asked.text('Hello').end();
    await clock.passUntil(core.drain(60_000));
    expect(await store.countTurns()).toEqual({ queued: 0, running: 0 });
    const [turn] = await store.readTurns(id, { from: 1, to: 9 });
    expect(turn?.status).toBe('complete');
  });

  it('does not stop the turn of the new session when the end of a turn claimed it', async () => {
    const { core, store, rig, clock, gate, taken, holdNext } = nodeWithLate('endTurn');
    const id = uuid();
    await core.send(message(id, 'First'));
    await core.send(message(id, 'Old'));
    holdNext();
    (await rig.next()).text('Hi').end();
    await taken.passed;
    await core.deleteSession(id);
    await core.send(message(id, 'New'));
    const asked = await rig.next();
    gate.open();
    asked.text('Hello').end();
    await clock.passUntil(core.drain(60_000));
    expect(await store.countTurns()).toEqual({ queued: 0, running: 0 });
    const [turn] = await store.readTurns(id, { from: 1, to: 9 });
    expect(turn?.status).toBe('complete');
  });
});

describe('a claim that is in progress when a drain begins', () => {
  it('is waited for when a search for abandoned turns made it', async () => {
    const memory = createMemoryStore();
    const former = nodeWithLate('endTurn', memory);
    const id = uuid();
    await former.core.send(message(id, 'Hi'));
    await former.rig.next();
    await former.clock.passUntil(former.core.drain(0));
    const { core, store, rig, clock, gate, taken, holdNext } = nodeWithLate('claimAbandoned', memory);
    holdNext();
    const starting = core.start();
    await taken.passed;
    const drained = core.drain(60_000);
    gate.open();
    (await rig.next()).text('Hello').end();
    await clock.passUntil(Promise.all([drained, starting]));
    expect(await store.countTurns()).toEqual({ queued: 0, running: 0 });
  });

  it('is given back when a message made it and the drain has no time left', async () => {
    const { core, store, clock, gate, taken, holdNext } = nodeWithLate('acceptMessage');
    const id = uuid();
    holdNext();
    const sent = core.send(message(id, 'Hi'));
    await taken.passed;
    const drained = core.drain(0);
    await clock.advance(1);
    gate.open();
    await clock.passUntil(Promise.all([sent, drained]));
    expect(await store.readLeases()).toEqual([]);
    expect(await store.countTurns()).toEqual({ queued: 0, running: 1 });
  });
});
