import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, created, message, spoken, testCore, TEST_SETTINGS } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

const { leaseMs, renewMs } = TEST_SETTINGS;

beforeEach(() => {
  // Time stands still but for what a test lets pass.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});

afterEach(async () => {
  jest.useRealTimers();
  await closeTestCores();
});

/** A store whose renewals go as `renew` says. */
function storeWith(renew: (memory: Store) => Store['renewLeases']): Store {
  const memory = createMemoryStore();
  return { ...memory, renewLeases: renew(memory) };
}

async function running(store: Store) {
  const rig = new ScriptedRig();
  const { core, log } = testCore({ rigs: [rig], store });
  await core.start();
  const id = uuid();
  await core.send(message(id, 'Hi'));
  const asked = await rig.next();
  return { core, rig, id, asked, log };
}

describe('a turn whose lease is not renewed', () => {
  it.each([
    ['fails', () => Promise.reject(new StoreUnavailableError('gone'))],
    ['hangs', () => new Promise<never>(() => undefined)],
  ])('is given up when the lease is over, and not before, when the renewal %s', async (_how, renew) => {
    const { asked, log } = await running(storeWith(() => renew));
    await jest.advanceTimersByTimeAsync(leaseMs - 1);
    // What is done to the clock on the wall does not matter.
    jest.setSystemTime(Date.now() - 3_600_000);
    expect(asked.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked.signal.aborted).toBe(true);
    expect(log.lines.join('\n')).toContain('stopped turns whose leases expired');
  });

  it('is counted from when the renewal was asked for, not from its answer', async () => {
    let answers = 0;
    const store = storeWith((memory) => async (lease, ids) => {
      // The first takes almost as long as the lease; no other one is answered.
      if (++answers > 1) return new Promise<never>(() => undefined);
      const kept = await memory.renewLeases(lease, ids);
      await new Promise((resolve) => setTimeout(resolve, leaseMs - renewMs - 1));
      return kept;
    });
    const { asked } = await running(store);
    await jest.advanceTimersByTimeAsync(renewMs + leaseMs - 1);
    expect(asked.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked.signal.aborted).toBe(true);
  });

  it('is counted from when the turn was claimed, not from the answer', async () => {
    const memory = createMemoryStore();
    const store: Store = {
      ...memory,
      renewLeases: () => new Promise<never>(() => undefined),
      async acceptMessage(acceptance) {
        const accepted = await memory.acceptMessage(acceptance);
        await new Promise((resolve) => setTimeout(resolve, leaseMs - 1));
        return accepted;
      },
    };
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    await core.start();
    const sending = core.send(message(uuid(), 'Hi'));
    await jest.advanceTimersByTimeAsync(leaseMs - 1);
    await sending;
    const asked = await rig.next();
    expect(asked.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(asked.signal.aborted).toBe(true);
  });

  it('goes on in an attempt of the node that recovers it', async () => {
    let isAway = true;
    const store = storeWith((memory) => (lease, ids) => {
      if (isAway) return new Promise<never>(() => undefined);
      return memory.renewLeases(lease, ids);
    });
    const { core, rig, id, asked } = await running(store);
    asked.text('Half an');
    await jest.advanceTimersByTimeAsync(leaseMs);
    expect(asked.signal.aborted).toBe(true);
    isAway = false;
    await jest.advanceTimersByTimeAsync(1_000);
    (await rig.next()).text('A whole answer').end();
    await jest.advanceTimersByTimeAsync(0);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: A whole answer']);
  });
});

describe('a turn whose lease is renewed', () => {
  it('goes on for as long as it takes', async () => {
    const { core, id, asked } = await running(createMemoryStore());
    await jest.advanceTimersByTimeAsync(3 * leaseMs);
    expect(asked.signal.aborted).toBe(false);
    asked.text('Done').end();
    await jest.advanceTimersByTimeAsync(0);
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Done']);
  });
});
