import { createMemoryBus } from '../../src/adapters/bus/memory/bus.js';
import { createMemoryStore } from './memory-store/store.js';
import type { Signal } from '../../src/core/model/event.js';
import type { Bus } from '../../src/core/ports/bus.js';
import { testCore } from './core.js';
import { FakeClock } from './fake-clock.js';
import { ScriptedRig } from './scripted-rig.js';

/** Two buses that forward to each other what is published, except what `drops` selects. */
export function joinedBuses(drops: (signal: Signal) => boolean): [Bus, Bus] {
  const [one, other] = [createMemoryBus(), createMemoryBus()];
  const join = (mine: Bus, theirs: Bus): Bus => ({
    ...mine,
    publish(sessionId, signal) {
      mine.publish(sessionId, signal);
      if (!drops(signal)) theirs.publish(sessionId, signal);
    },
  });
  return [join(one, other), join(other, one)];
}

/** Two processes on one store and one clock, which the test moves. The rig is the owner's. */
export function twoNodes(drops: (signal: Signal) => boolean = () => false) {
  const store = createMemoryStore();
  const [busA, busB] = joinedBuses(drops);
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  const settings = { mirrorMs: 0 };
  const { core: owner } = testCore({ rigs: [rig], store, bus: busA, clock, settings });
  const { core: other } = testCore({ rigs: [new ScriptedRig()], store, bus: busB, clock, settings });
  return { owner, other, rig, clock };
}
