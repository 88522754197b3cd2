import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { nodeDigests } from '../../../src/adapters/platform/node/digests.js';
import { mintKey } from '../../../src/core/access/app-keys.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { Usage } from '../../../src/core/operations/usage.js';
import { keptLog } from '../../support/core.js';

const DAY = 86_400_000;
const NOON = 20_000 * DAY + DAY / 2;

function begin(store: Store = createMemoryStore()) {
  const clock = {
    ...systemClock,
    at: NOON,
    now: () => clock.at,
    monotonic: () => clock.at,
    newId: () => 'key-1',
  };
  const log = keptLog();
  const usage = new Usage({ store, clock, digests: nodeDigests, log });
  const rows = async () => {
    await usage.flush();
    return (await store.readUsage(0)).rows;
  };
  return { store, clock, log, usage, rows };
}

describe('counting requests', () => {
  it('counts by the product of the client and the id of its key, and by day', async () => {
    const { store, clock, usage, rows } = begin();
    const { key, stored } = mintKey({
      ...{ apps: ['desk'], label: 'mobile', expiresAt: null, clock, digests: nodeDigests },
      randomBytes: (count) => new Uint8Array(count),
    });
    await store.saveKey(stored);
    const count = usage.counter('legacy', 'POST /api/thread/chat');
    count('WalletApp/2.1 (iOS)', undefined);
    clock.at += 1;
    count('WalletApp/2.2', 'sk-app-made-up');
    count(undefined, undefined);
    count('(strange)', `sk-app-${'x'.repeat(43)}`);
    count('WalletApp', key);
    usage.counter('current', 'GET /api/state')('curl/8', undefined);
    await usage.flush();
    clock.at += DAY;
    usage.counter('legacy', 'POST /api/thread/chat')('WalletApp/2.1', key);
    const seen = (await rows()).map(({ day, surface, keyId, client, requests, firstAt, lastAt }) =>
      [day / DAY, surface, keyId, client, requests, firstAt - NOON, lastAt - NOON].join(' '),
    );
    expect(seen).toEqual([
      '20000 current  curl 1 1 1',
      '20000 legacy  WalletApp 2 0 1',
      '20000 legacy  none 2 1 1',
      '20000 legacy key-1 WalletApp 1 1 1',
      `20001 legacy key-1 WalletApp 1 ${String(DAY + 1)} ${String(DAY + 1)}`,
    ]);
  });

  it('counts a client with an overlong User-Agent by its product, or as unnamed', async () => {
    const { usage, rows } = begin();
    const count = usage.counter('legacy', 'GET /a');
    const comment = `(${'x'.repeat(1_000)})`;
    count('WalletApp/2.1', undefined);
    count(`WalletApp/2.1 ${comment}`, undefined);
    count(comment, undefined);
    count(`https://${'x'.repeat(1_000)}.example`, undefined);
    expect((await rows()).map(({ client, requests }) => [client, requests])).toEqual([
      ['WalletApp', 2],
      ['none', 2],
    ]);
  });

  it('keeps what the store does not take, says so once, and counts it once', async () => {
    const memory = createMemoryStore();
    let isDown = true;
    const { usage, log, rows } = begin({
      ...memory,
      addUsage: (added) =>
        isDown ? Promise.reject(new StoreUnavailableError('down')) : memory.addUsage(added),
    });
    const count = usage.counter('legacy', 'GET /api/thread/state');
    for (let n = 0; n < 3; n++) {
      count('A', undefined);
      await usage.flush();
    }
    expect(log.lines).toHaveLength(1);
    isDown = false;
    count('A', undefined);
    expect((await rows()).map(({ requests }) => requests)).toEqual([4]);
    expect((await rows()).map(({ requests }) => requests)).toEqual([4]);
  });

  it('bounds made-up names, loses no request by it, and keeps names that it knew', async () => {
    const store = createMemoryStore();
    const known = { day: NOON - DAY / 2, surface: 'legacy', endpoint: 'GET /a', keyId: null } as const;
    await store.addUsage([{ ...known, client: 'Known', requests: 1, firstAt: NOON, lastAt: NOON }]);
    const { usage, rows } = begin(store);
    const count = usage.counter('legacy', 'GET /a');
    for (let n = 0; n < 5_000; n++) count(`Made-up-${String(n)}/1`, undefined);
    await usage.flush();
    for (let n = 0; n < 500; n++) count(`Made-up-again-${String(n)}/1`, undefined);
    count('Known/1.0', undefined);
    count(`Long${'x'.repeat(100_000)}`, undefined);
    const counted = await rows();
    expect(counted.length).toBe(202);
    expect(counted.reduce((sum, { requests }) => sum + requests, 0)).toBe(5_503);
    expect(counted.find(({ client }) => client === 'Known')?.requests).toBe(2);
    expect(counted.find(({ client }) => client === 'other')?.requests).toBeGreaterThan(5_000);
  });

  it('holds a bounded number while the store is away for long', async () => {
    const memory = createMemoryStore();
    let most = 0;
    const { usage, clock } = begin({
      ...memory,
      addUsage: (added) => {
        most = Math.max(most, added.length);
        return Promise.reject(new StoreUnavailableError('down'));
      },
      readUsageClients: () => Promise.resolve(Array.from({ length: 400 }, (_, n) => `N${String(n)}`)),
    });
    const counters = Array.from({ length: 20 }, (_, n) => usage.counter('legacy', `GET /${String(n)}`));
    for (let round = 0; round < 6; round++) {
      for (const count of counters) {
        for (let n = 0; n < 100; n++) count(`N${String(round * 100 + n)}`, undefined);
      }
      await usage.flush();
      clock.at += 1;
    }
    expect(most).toBeGreaterThan(4_000);
    expect(most).toBeLessThanOrEqual(5_020);
  });
});
