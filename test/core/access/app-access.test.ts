import { createHash, timingSafeEqual } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import type { App } from '../../../src/core/model/app.js';
import { createAccess } from '../../../src/core/access/app-access.js';
import { mintKey } from '../../../src/core/access/app-keys.js';
import type { Digests } from '../../../src/core/ports/digests.js';
import { RefusedError } from '../../../src/core/model/refusal.js';
import type { StoredKey } from '../../../src/core/ports/store.js';

const digests: Digests = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  equal: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
};

function app(name: string): App {
  return {
    name,
    instructions: '',
    rigs: null,
    tools: null,
    toolServers: [],
    secrets: [],
    busyStrategy: null,
    prompts: null,
    wallet: null,
  };
}

function house() {
  let now = 10_000;
  let minted = 0;
  const stored = new Map<string, StoredKey>();
  const asked: string[] = [];
  let failure: Error | undefined;
  let gate: Promise<void> = Promise.resolve();
  const access = createAccess({
    apps: [app('zebra'), app('default'), app('ant'), app('bee')],
    findKey: async (digest) => {
      asked.push(digest);
      await gate;
      if (failure !== undefined) throw failure;
      return stored.get(digest);
    },
    digests,
    clock: { now: () => now, monotonic: () => now },
  });
  return {
    access,
    asked,
    add: (apps: readonly string[], change: Partial<StoredKey> = {}): string => {
      const made = mintKey({
        apps,
        label: '',
        expiresAt: null,
        randomBytes: (count) => new Uint8Array(count).fill(++minted),
        clock: { ...systemClock, now: () => now, monotonic: () => now, newId: () => `key-${String(minted)}` },
        digests,
      });
      stored.set(made.stored.digest, { ...made.stored, ...change });
      return made.key;
    },
    change: (key: string, change: Partial<StoredKey>): void => {
      const digest = digests.sha256(key);
      const known = stored.get(digest);
      if (known !== undefined) stored.set(digest, { ...known, ...change });
    },
    pass: (milliseconds: number): void => {
      now += milliseconds;
    },
    fail: (error: Error | undefined): void => {
      failure = error;
    },
    hold: (): (() => void) => {
      let open = (): void => undefined;
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
  };
}

async function refusal(work: Promise<unknown>): Promise<{ reason: string; message: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RefusedError) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('was not refused');
}

describe('authorize', () => {
  it.each([undefined, '', 'nonsense', `sk-app-${'x'.repeat(43)}`])(
    'opens default, whatever the key (%j), and does not look at it',
    async (key) => {
      const { access, asked } = house();
      expect((await access.authorize('default', key)).name).toBe('default');
      expect(asked).toEqual([]);
    },
  );

  const states: readonly [string, Partial<StoredKey> | 'unknown' | 'none' | 'malformed', string][] = [
    ['a valid key', {}, 'opens'],
    ['a key that expires later', { expiresAt: 10_001 }, 'opens'],
    ['no key', 'none', 'unauthenticated'],
    ['a malformed key', 'malformed', 'unauthenticated'],
    ['an unknown key', 'unknown', 'unauthenticated'],
    ['a revoked key', { revokedAt: 1 }, 'unauthenticated'],
    ['an expired key', { expiresAt: 10_000 }, 'unauthenticated'],
    ['a valid key of another App', { apps: ['bee'] }, 'forbidden'],
    ['a revoked key of another App', { apps: ['bee'], revokedAt: 1 }, 'unauthenticated'],
  ];

  it.each(states)('%s: %s', async (_name, state, expected) => {
    const { access, add } = house();
    let key: string | undefined;
    if (state === 'unknown') key = `sk-app-${'x'.repeat(43)}`;
    else if (state === 'malformed') key = `sk-app-${'x'.repeat(42)}`;
    else if (state !== 'none') key = add(['ant'], state);
    const opened = access.authorize('ant', key);
    if (expected === 'opens') expect((await opened).name).toBe('ant');
    else expect((await refusal(opened)).reason).toBe(expected);
  });

  it('refuses an App that is not covered and one that does not exist in the same words', async () => {
    const { access, add } = house();
    const key = add(['ant', 'ghost']);
    const uncovered = await refusal(access.authorize('bee', key));
    const unknown = await refusal(access.authorize('nope', key));
    expect(unknown).toEqual({ reason: 'forbidden', message: uncovered.message.replace('bee', 'nope') });
  });

  it('names an App that is not configured to the holder of a key for it alone', async () => {
    const { access, add } = house();
    const stranger = await refusal(access.authorize('ghost', add(['ant'])));
    const holder = await refusal(access.authorize('ghost', add(['ghost'])));
    expect(stranger).toEqual({
      reason: 'forbidden',
      message: 'The App key does not authorize the App "ghost"',
    });
    expect(holder).toEqual({
      reason: 'forbidden',
      message: 'The App key authorizes the App "ghost", which is not configured',
    });
  });

  it('asks for a key before it says anything of an App that does not exist', async () => {
    const { access } = house();
    const unknown = await refusal(access.authorize('nope', undefined));
    const known = await refusal(access.authorize('bee', undefined));
    expect(unknown).toEqual({ reason: 'unauthenticated', message: known.message.replace('bee', 'nope') });
  });

  it('refuses a malformed key without asking the store', async () => {
    const { access, asked } = house();
    await refusal(access.authorize('ant', 'x'.repeat(1_000_000)));
    expect(asked).toEqual([]);
  });

  it('does not take a record whose digest is another', async () => {
    const { access, add, change } = house();
    const key = add(['ant']);
    change(key, { digest: digests.sha256('another') });
    expect((await refusal(access.authorize('ant', key))).reason).toBe('unauthenticated');
  });
});

describe('lookups', () => {
  it('are remembered for less than 2 s, so that a revocation holds soon', async () => {
    const { access, add, change, pass, asked } = house();
    const key = add(['ant']);
    await access.authorize('ant', key);
    change(key, { revokedAt: 1 });
    pass(1999);
    await access.authorize('ant', key);
    expect(asked).toHaveLength(1);
    pass(1);
    expect((await refusal(access.authorize('ant', key))).reason).toBe('unauthenticated');
    expect(asked).toHaveLength(2);
  });

  it('do not outlive the expiry of the key', async () => {
    const { access, add, pass } = house();
    const key = add(['ant'], { expiresAt: 10_500 });
    await access.authorize('ant', key);
    pass(500);
    expect((await refusal(access.authorize('ant', key))).reason).toBe('unauthenticated');
  });

  it('are shared by a burst', async () => {
    const { access, add, asked, hold } = house();
    const key = add(['ant']);
    const open = hold();
    const burst = Array.from({ length: 20 }, () => access.authorize('ant', key));
    open();
    await Promise.all(burst);
    expect(asked).toHaveLength(1);
  });

  it('are bounded: the oldest is forgotten first', async () => {
    const { access, add, asked } = house();
    const key = add(['ant']);
    await access.authorize('ant', key);
    for (let n = 0; n < 1000; n++) {
      await refusal(access.authorize('ant', `sk-app-${String(n).padStart(43, '0')}`));
    }
    expect(asked).toHaveLength(1001);
    await access.authorize('ant', key);
    expect(asked).toHaveLength(1002);
  });

  it('that fail are not remembered', async () => {
    const { access, add, fail } = house();
    const key = add(['ant']);
    const failure = new Error('the store is away');
    fail(failure);
    await expect(access.authorize('ant', key)).rejects.toBe(failure);
    fail(undefined);
    expect((await access.authorize('ant', key)).name).toBe('ant');
  });
});

describe('listAuthorized', () => {
  async function names(work: Promise<readonly App[]>): Promise<string[]> {
    return (await work).map(({ name }) => name);
  }

  it('gives default alone without a key', async () => {
    const { access } = house();
    expect(await names(access.listAuthorized(undefined, { keyRequired: false }))).toEqual(['default']);
    expect(await names(access.listAuthorized('', { keyRequired: false }))).toEqual(['default']);
  });

  it('gives default first, then what the key covers and exists, in the order of the configuration', async () => {
    const { access, add } = house();
    const key = add(['ghost', 'bee', 'default', 'zebra']);
    expect(await names(access.listAuthorized(key, { keyRequired: true }))).toEqual([
      'default',
      'zebra',
      'bee',
    ]);
  });

  it.each([true, false])('refuses a bad key (key required: %s)', async (keyRequired) => {
    const { access, add } = house();
    const revoked = add(['ant'], { revokedAt: 1 });
    for (const key of ['nonsense', revoked]) {
      expect((await refusal(access.listAuthorized(key, { keyRequired }))).reason).toBe('unauthenticated');
    }
  });

  it('refuses to go without a key where one is required', async () => {
    const { access } = house();
    expect((await refusal(access.listAuthorized(undefined, { keyRequired: true }))).reason).toBe(
      'unauthenticated',
    );
  });
});
