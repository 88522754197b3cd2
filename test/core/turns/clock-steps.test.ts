import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { nodeDigests } from '../../../src/adapters/platform/node/digests.js';
import { createMemoryBus } from '../../../src/adapters/bus/memory/bus.js';
import { mintKey } from '../../../src/core/access/app-keys.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { LOST, sendAndClaim } from '../../contracts/store-fixtures.js';
import {
  closeTestCores,
  created,
  message,
  spoken,
  testApp,
  testCore,
  TEST_SETTINGS,
} from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const never = new AbortController().signal;
const HOUR_MS = 3_600_000;
const { leaseMs, mirrorMs } = TEST_SETTINGS;

const STEPS: readonly (readonly [string, number])[] = [
  ['an hour back', -HOUR_MS],
  ['an hour forward', HOUR_MS],
];

/** A node whose clock the test moves, and another process on the same store that sends it no signals. */
function twoProcesses(store: Store = createMemoryStore()) {
  const clock = new FakeClock();
  const apps = [testApp(), testApp({ name: 'desk' })];
  const rigs = () => [new ScriptedRig('one'), new ScriptedRig('two')];
  const { core: node } = testCore({ rigs: rigs(), apps, store, clock });
  const { core: other } = testCore({ rigs: rigs(), apps, store, bus: createMemoryBus() });
  return { store, clock, node, other };
}

describe.each(STEPS)('a node whose wall clock is set %s', (_, step) => {
  it('shows titles, models and messages of other processes as soon as without that step', async () => {
    const { store, clock, node, other } = twoProcesses();
    const id = uuid();
    await node.createSession({ sessionId: id });
    clock.pass(mirrorMs);
    await node.snapshot(created(id));
    clock.step(step);
    await other.renameSession(id, 'Renamed');
    await other.selectRig({ session: created(id), rig: 'two', app: 'default', key: undefined });
    await sendAndClaim(store, id, { text: 'Hello' });
    clock.pass(mirrorMs);
    const snapshot = await node.snapshot(created(id));
    expect([snapshot.session.title, spoken(snapshot)]).toEqual(['Renamed', ['user: Hello']]);
    expect(await node.listRigs({ session: created(id), app: 'default', key: undefined })).toMatchObject([
      { id: 'two' },
      { id: 'one' },
    ]);
  });

  it('does not serve a session that another process has deleted', async () => {
    const { clock, node, other } = twoProcesses();
    const id = uuid();
    await node.createSession({ sessionId: id });
    clock.step(step);
    await other.deleteSession(id);
    clock.pass(mirrorMs);
    await expect(node.getSession(id)).rejects.toMatchObject({ reason: 'not_found' });
  });

  it('refuses a key that was revoked', async () => {
    const { store, clock, node } = twoProcesses();
    const { key, stored } = mintKey({
      ...{ apps: ['desk'], label: '', expiresAt: null },
      ...{ randomBytes, clock, digests: nodeDigests },
    });
    await store.saveKey(stored);
    await node.listTools('desk', key);
    clock.step(step);
    await store.revokeKey(stored.id, clock.now());
    clock.pass(2_000);
    await expect(node.listTools('desk', key)).rejects.toMatchObject({ reason: 'unauthenticated' });
  });

  it('says that the store is away', async () => {
    const memory = createMemoryStore();
    let isAway = false;
    const store: Store = {
      ...memory,
      check: () => (isAway ? Promise.reject(new StoreUnavailableError('gone')) : memory.check()),
    };
    const { clock, node } = twoProcesses(store);
    expect(await node.health()).toEqual({ status: 'ok' });
    clock.step(step);
    isAway = true;
    clock.pass(1_001);
    expect(await node.health()).toEqual({ status: 'store_unavailable' });
    isAway = false;
    clock.step(-step);
    clock.pass(1_001);
    expect(await node.health()).toEqual({ status: 'ok' });
  });

  it('shows the text in flight of another process as it grows', async () => {
    const { store, clock, node } = twoProcesses();
    const id = uuid();
    const turn = await sendAndClaim(store, id);
    const checkpoint = (partialText: string) =>
      store.saveProgress(turn, { messages: [], events: [], partialText }, 0);
    await checkpoint('Once');
    expect(spoken(await node.snapshot(created(id))).at(-1)).toBe('assistant~ Once');
    clock.pass(250);
    await node.snapshot(created(id));
    clock.step(step);
    await checkpoint('Once upon');
    clock.pass(250);
    expect(spoken(await node.snapshot(created(id))).at(-1)).toBe('assistant~ Once upon');
  });
});

describe('a system error that a dead node has claimed', () => {
  it('is shown once the claim was not renewed for its length, although the clock was set back since', async () => {
    const { store, clock, node } = twoProcesses();
    const id = uuid();
    const turn = await sendAndClaim(store, id);
    await store.endTurn(turn, {
      ...{ outcome: 'failed', messages: [], events: [], error: 'It failed.', rig: null, shownTokens: 0 },
      ...{ usage: { inputTokens: 0, outputTokens: 0 }, uses: [], claimNext: null, at: 0 },
    });
    await store.claimFaults(id, { owner: 'dead', milliseconds: HOUR_MS }, null);
    expect((await node.snapshot(created(id))).faults.events).toEqual([]);
    clock.pass(leaseMs - 1);
    expect((await node.snapshot(created(id))).faults.events).toEqual([]);
    clock.pass(1);
    expect((await node.snapshot(created(id))).faults.events.map(({ text }) => text)).toEqual(['It failed.']);
  });
});

describe('the turn of a process that was killed', () => {
  beforeEach(() => {
    // Time stands still but for what a test lets pass.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  /** A process that watches a store, and a turn on it that `claim` says the lease of. */
  async function watching(store: Store = createMemoryStore()) {
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store });
    await core.start();
    return { store, rig, core };
  }

  it('goes on at once in its successor when the clock was set back since', async () => {
    const store = createMemoryStore();
    const turn = await sendAndClaim(store, uuid(), { claim: { owner: 'dead', milliseconds: leaseMs } });
    jest.setSystemTime(Date.now() - HOUR_MS);
    const { rig, core } = await watching(store);
    (await rig.next()).text('Here').end();
    await core.turnEnded({ sessionId: turn.sessionId, turnId: turn.id, repeated: false }, never);
    expect(spoken(await core.snapshot(created(turn.sessionId)))).toContain('assistant: Here');
  });

  it.each([['not set', 0] as const, ...STEPS])(
    'goes on in another process within eight seconds when the clock is %s',
    async (_, step) => {
      const { store, rig } = await watching();
      await sendAndClaim(store, uuid(), { claim: { owner: 'dead', milliseconds: leaseMs } });
      jest.setSystemTime(Date.now() + step);
      await jest.advanceTimersByTimeAsync(leaseMs);
      expect(rig.asked).toHaveLength(0);
      await jest.advanceTimersByTimeAsync(2_000);
      expect(rig.asked).toHaveLength(1);
    },
  );

  it.each(STEPS)('stays its owner’s while the owner lives, when the clock is set %s', async (_, step) => {
    const store = createMemoryStore();
    const owner = await watching(store);
    const other = await watching(store);
    const id = uuid();
    await owner.core.send(message(id, 'Hi'));
    const asked = await owner.rig.next();
    for (let n = 0; n < 4; n++) {
      await jest.advanceTimersByTimeAsync(leaseMs);
      // Between two renewals, so that the stored end is far from the time.
      jest.setSystemTime(Date.now() + step);
      await jest.advanceTimersByTimeAsync(1_500);
    }
    expect([asked.signal.aborted, owner.rig.asked.length, other.rig.asked.length]).toEqual([false, 1, 0]);
    asked.text('Done').end();
    await jest.advanceTimersByTimeAsync(0);
    expect(spoken(await owner.core.snapshot(created(id)))).toEqual(['user: Hi', 'assistant: Done']);
  });

  it('goes on at once in its successor when its lease has ended', async () => {
    const store = createMemoryStore();
    await sendAndClaim(store, uuid(), { claim: LOST });
    const { rig } = await watching(store);
    await rig.next();
    expect(rig.asked).toHaveLength(1);
  });
});

describe('retention on a node whose wall clock is set forward', () => {
  it('deletes what is old by that clock once the step has lasted for ten minutes', async () => {
    const clock = new FakeClock();
    const settings = { retentionMs: HOUR_MS };
    const { core, store, log } = testCore({ rigs: [new ScriptedRig()], clock, settings });
    await core.start();
    const id = uuid();
    await core.createSession({ sessionId: id });
    clock.step(100 * HOUR_MS);
    await clock.advance(600_000);
    expect(await store.revisionOf(id)).toBeGreaterThan(0);
    await clock.advance(60_000);
    expect(await store.revisionOf(id)).toBe('deleted');
    expect(log.lines).toContain('wall clock stepped forward {"seconds":360000}');
  });
});
