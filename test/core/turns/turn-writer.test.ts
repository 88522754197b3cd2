import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import type { Tool } from '../../../src/core/ports/tool.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, created, message, spoken, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;

const add: Tool = {
  ...{ name: 'add', description: '', parameters: { type: 'object' }, timeoutMs: null, sideEffects: 'none' },
  run: () => Promise.resolve(42),
};

/** A store that loses the acknowledgement of the first progress: it is stored, and fails all the same. */
function losing(store: Store): { readonly store: Store; readonly saves: () => number } {
  let saves = 0;
  return {
    saves: () => saves,
    store: {
      ...store,
      async saveProgress(...given) {
        const saved = await store.saveProgress(...given);
        saves += 1;
        if (saves === 1) throw new StoreUnavailableError('the connection was lost');
        return saved;
      },
    },
  };
}

describe('TurnWriter', () => {
  it('logs the events of a step once when the acknowledgement of the store was lost', async () => {
    const clock = new FakeClock();
    const rig = new ScriptedRig();
    const flaky = losing(createMemoryStore());
    const { core } = testCore({ rigs: [rig], clock, store: flaky.store, tools: [add] });
    const id = uuid();
    const sent = await core.send(message(id, 'add'));
    (await rig.next()).call('c1', 'add').end();
    const next = rig.next();
    await clock.advance(1_000);
    (await next).text('It is 42.').end();
    await core.turnEnded(sent, never);
    expect(flaky.saves()).toBeGreaterThan(1);
    const { events } = await flaky.store.readEvents(id, 0, 99);
    expect(events.filter(({ body }) => body.type === 'tool_update')).toHaveLength(1);
    expect(events.filter(({ body }) => body.type === 'tool_complete')).toHaveLength(1);
    expect(spoken(await core.snapshot(created(id))).at(-1)).toBe('assistant: It is 42.');
  });
});
