import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import type { Store } from '../../../src/core/ports/store.js';
import { SETTLED_ANOTHER } from '../../../src/core/ports/wallet-store.js';
import { T0, WIDE } from '../../contracts/store-fixtures.js';
import { closeTestCores, created, testCore } from '../../support/core.js';
import { Gate } from '../../support/gate.js';
import { ScriptedRig } from '../../support/scripted-rig.js';
import { HASH, mined, SHOP, WALLET, walletCore } from '../../support/wallet-core.js';

const DAY_MS = 86_400_000;
const SECRET = { app: 'default', name: 'A', keyId: 'k', sealed: 'c2VhbGVk' };

/** Lets the event loop turn until a condition holds. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await nextRound();
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(async () => {
  jest.useRealTimers();
  await closeTestCores();
});

describe('Housekeeping', () => {
  it('removes the secrets of clients that no session has used for 30 days', async () => {
    const store = createMemoryStore();
    let passed = 40 * DAY_MS;
    const clock = { ...systemClock, now: () => T0 + passed, monotonic: () => passed };
    await store.putSecrets('old', [SECRET], WIDE, T0);
    await store.putSecrets('used', [SECRET], WIDE, T0);
    await store.noteSecretUse('used', T0 + 20 * DAY_MS, T0 + 19 * DAY_MS);
    const { core } = testCore({ rigs: [new ScriptedRig()], store, clock });
    await core.start();
    const clients = async () => (await store.listSecretClients(9)).map(({ client }) => client);
    expect(await clients()).toEqual(['old', 'used']);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await clients()).toEqual(['used']);
    passed += 12 * DAY_MS;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await clients()).toEqual([]);
  });

  it('gives the store whole milliseconds, although the monotonic clock has fractions', async () => {
    const store = createMemoryStore();
    const times: (number | null)[] = [];
    let passed = 0.7;
    const clock = { ...systemClock, now: () => T0 + Math.ceil(2 * passed), monotonic: () => passed };
    const { core } = testCore({
      rigs: [new ScriptedRig()],
      clock,
      store: {
        ...store,
        prune: (expired, signal) => {
          const { eventsKept: _, ...before } = expired;
          times.push(...Object.values(before));
          return store.prune(expired, signal);
        },
        pruneSecrets: (before, limit) => {
          times.push(before);
          return store.pruneSecrets(before, limit);
        },
        expireWalletRequests: (now, limit) => {
          times.push(now);
          return store.expireWalletRequests(now, limit);
        },
      },
    });
    await core.start();
    passed += 60_000.1;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(times).toHaveLength(10);
    expect(times.filter((time) => time !== null && !Number.isInteger(time))).toEqual([]);
  });

  it('does not prune while it still prunes', async () => {
    const store = createMemoryStore();
    const pruned = new Gate();
    let begun = 0;
    const prune: Store['prune'] = async () => {
      begun += 1;
      await pruned.passed;
      return [];
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], store: { ...store, prune } });
    await core.start();
    await jest.advanceTimersByTimeAsync(300_000);
    expect(begun).toBe(1);
    pruned.open();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(begun).toBe(2);
  });

  it('stops between two steps when the service closes', async () => {
    const store = createMemoryStore();
    const prune: Store['prune'] = async (_, signal) => {
      while (signal?.aborted === false) await nextRound();
      return [];
    };
    const { core } = testCore({ rigs: [new ScriptedRig()], store: { ...store, prune } });
    await store.putSecrets('old', [SECRET], WIDE, 0);
    await core.start();
    await jest.advanceTimersByTimeAsync(60_000);
    await core.close();
    // It does not go on with secrets.
    expect(await store.listSecretClients(9)).toHaveLength(1);
  });

  it('removes none because the wall clock was just set forward', async () => {
    const store = createMemoryStore();
    let ahead = 0;
    const clock = { ...systemClock, now: () => T0 + ahead, monotonic: () => 0 };
    await store.putSecrets('client', [SECRET], WIDE, T0);
    const { core } = testCore({ rigs: [new ScriptedRig()], store, clock });
    await core.start();
    ahead = 3_650 * DAY_MS;
    await jest.advanceTimersByTimeAsync(120_000);
    expect(await store.listSecretClients(9)).toHaveLength(1);
  });

  it('keeps which transactions confirmed requests for as long as they could confirm others', async () => {
    let passed = 0;
    const clock = { ...systemClock, now: () => T0 + passed, monotonic: () => passed };
    const settings = { walletRequestMs: DAY_MS };
    const { core, id, request, call, report, chains, store } = await walletCore({ clock, settings });
    const other = randomUUID();
    await core.createSession({ sessionId: other, wallet: WALLET });
    await core.start();
    const lateInTheDay = async () => {
      passed += DAY_MS - 120_000;
      await jest.advanceTimersByTimeAsync(60_000);
    };
    await request();
    await lateInTheDay();
    await call('stage_transaction', { to: SHOP, value: '1 wei' }, { session: other });
    chains.transactions.set(`1:${HASH}`, () => mined());
    const outcome = { status: 'success', txHash: HASH, pending_tx_ids: [1] };
    await report('wallet:tx_complete', outcome);
    await until(async () => (await store.findSettledBy(1, HASH)) !== undefined);
    await core.deleteSession(id);
    await lateInTheDay();
    await call('request_transactions', { ids: [1] }, { session: other });
    await lateInTheDay();
    await core.report(created(other), JSON.stringify({ type: 'wallet:tx_complete', payload: outcome }));
    const verified = () => store.readWalletRequests(other, { ids: [1] });
    await until(async () => (await verified())[0]?.verification != null);
    expect(await verified()).toMatchObject([{ state: 'differs', verification: SETTLED_ANOTHER }]);
    passed += 5 * DAY_MS;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await store.findSettledBy(1, HASH)).toBeUndefined();
  });

  it('expires wallet requests, and shows that', async () => {
    let passed = 0;
    const clock = { ...systemClock, now: () => T0 + passed, monotonic: () => passed };
    const settings = { walletRequestMs: 3_600_000 };
    const { core, id, request, stage, call, bus } = await walletCore({ clock, settings });
    await request();
    await stage();
    await core.start();
    const { tag } = await core.snapshot(created(id));
    const signals: string[] = [];
    await bus.subscribe(id, ({ type }) => signals.push(type));
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await core.snapshot(created(id))).session.pending).toHaveLength(1);
    passed += 3_600_000;
    await jest.advanceTimersByTimeAsync(60_000);
    const after = await core.snapshot(created(id));
    expect([after.session.pending, after.tag === tag, signals]).toEqual([[], false, ['session_changed']]);
    expect(await call('list_wallet_requests', {})).toMatchObject({
      requests: [{ state: 'expired' }, { state: 'expired' }],
    });
  });

  it('expires them by the wall clock, whose time clients were given', async () => {
    let ahead = 0;
    const clock = { ...systemClock, now: () => T0 + ahead, monotonic: () => 0 };
    const { core, id, request } = await walletCore({ clock });
    await request();
    await core.start();
    ahead = 30 * DAY_MS;
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await core.snapshot(created(id))).session.pending).toEqual([]);
  });
});
