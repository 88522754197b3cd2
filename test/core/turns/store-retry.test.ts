import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { closeTestCores, collect, created, message, spoken, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const CLIENT = 'client-of-16-char';
const never = new AbortController().signal;

const pay: Tool = {
  ...{ name: 'pay', description: '', parameters: { type: 'object' }, timeoutMs: null },
  sideEffects: 'yes',
  run: () => Promise.resolve('paid'),
};

/** A store that fails the next read of secrets once it is asked to. */
function failing(): { readonly store: Store; failNext: () => void } {
  const store = createMemoryStore();
  let fails = false;
  const readSecrets: Store['readSecrets'] = (...asked) => {
    if (!fails) return store.readSecrets(...asked);
    fails = false;
    return Promise.reject(new StoreUnavailableError('the connection was lost'));
  };
  return { store: { ...store, readSecrets }, failNext: () => (fails = true) };
}

async function startCore() {
  const [rig, clock, flaky] = [new ScriptedRig(), new FakeClock(), failing()];
  const { core, log } = testCore({ rigs: [rig], tools: [pay], store: flaky.store, clock });
  await core.start();
  return { core, log, rig, clock, flaky };
}

describe('a turn whose read of its client fails once', () => {
  it('runs the tool call that needs the secrets', async () => {
    const { core, rig, clock, flaky, log } = await startCore();
    const id = uuid();
    const sent = await core.send(message(id, 'pay', { clientId: CLIENT }));
    const asked = await rig.next();
    flaky.failNext();
    asked.call('c1', 'pay').end();
    const ended = core.turnEnded(sent, never);
    void rig.next().then((next) => next.text('Paid.').end());
    await clock.passUntil(ended);
    expect(spoken(await core.snapshot(created(id)))).toEqual([
      ...['user: pay', 'pay = "paid"'],
      'assistant: Paid.',
    ]);
    expect(log.lines.join()).toContain('failed to read the secrets of a tool call, retrying');
  });

  it('sends its request to the model', async () => {
    const { core, rig, clock, flaky, log } = await startCore();
    const id = uuid();
    flaky.failNext();
    const sent = await core.send(message(id, 'hi', { clientId: CLIENT }));
    const ended = core.turnEnded(sent, never);
    void rig.next().then((next) => next.text('Hello.').end());
    await clock.passUntil(ended);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: hi', 'assistant: Hello.']);
    expect(log.lines.join()).toContain('failed to read the provider key of a turn, retrying');
  });
});

describe('a turn whose end was stored without an acknowledgement', () => {
  it('ends once for its streams, and the next turn starts within eight seconds', async () => {
    const [rig, clock, memory] = [new ScriptedRig(), new FakeClock(), createMemoryStore()];
    let isLost = false;
    const endTurn: Store['endTurn'] = async (...given) => {
      const stored = await memory.endTurn(...given);
      if (isLost) return stored;
      isLost = true;
      throw new StoreUnavailableError('the connection was lost');
    };
    const { core } = testCore({ rigs: [rig], store: { ...memory, endTurn }, clock });
    await core.start();
    const id = uuid();
    const sent = await core.send(message(id, 'One'));
    await core.send(message(id, 'Two'));
    const asked = await rig.next();
    const seen = collect(await core.watchTurn(sent));
    asked.text('First.').end();
    expect((await clock.passUntil(seen)).filter(({ type }) => type === 'turn_ended')).toMatchObject([
      { outcome: 'complete' },
    ]);
    const before = clock.monotonic();
    const next = await clock.passUntil(rig.next());
    expect(clock.monotonic() - before).toBeLessThan(8_000);
    next.text('Second.').end();
    const settled = ['user: One', 'assistant: First.', 'user: Two', 'assistant: Second.'];
    while (spoken(await core.snapshot(created(id))).length < settled.length) await clock.advance(100);
    expect(spoken(await core.snapshot(created(id)))).toEqual(settled);
  });
});
