import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import type { Store } from '../../../src/core/ports/store.js';
import { closeTestCores, message, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { Gate } from '../../support/gate.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

/** A node whose store holds back the result of the next call of `method` after it has taken effect. */
function nodeWithLate(method: 'endTurn' | 'acceptMessage') {
  const memory = createMemoryStore();
  const gate = new Gate();
  const took = new Gate();
  let isLate = false;
  const late = async <T>(result: Promise<T>): Promise<T> => {
    if (!isLate) return result;
    isLate = false;
    const done = await result;
    took.open();
    await gate.passed;
    return done;
  };
  const store: Store = {
    ...memory,
    endTurn: (...given) => (method === 'endTurn' ? late(memory.endTurn(...given)) : memory.endTurn(...given)),
    acceptMessage: (...given) =>
      method === 'acceptMessage' ? late(memory.acceptMessage(...given)) : memory.acceptMessage(...given),
  };
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  const { core } = testCore({ rigs: [rig], store, clock });
  return { core, store, rig, clock, gate, took, holdNext: () => (isLate = true) };
}

describe('a claim whose result arrives after its session was deleted and created again', () => {
  it('does not stop the turn of the new session when a message claimed it', async () => {
    const { core, store, rig, clock, gate, took, holdNext } = nodeWithLate('acceptMessage');
    const id = uuid();
    holdNext();
    const old = core.send(message(id, 'Old'));
    await took.passed;
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
    const { core, store, rig, clock, gate, took, holdNext } = nodeWithLate('endTurn');
    const id = uuid();
    await core.send(message(id, 'First'));
    await core.send(message(id, 'Old'));
    holdNext();
    (await rig.next()).text('Hi').end();
    await took.passed;
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
