import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nodeDigests } from '../../../src/adapters/platform/node/digests.js';
import { createSealer } from '../../../src/adapters/platform/node/sealer.js';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { createAccess } from '../../../src/core/access/app-access.js';
import { ProviderKeys } from '../../../src/core/access/provider-keys.js';
import { rotateSecrets } from '../../../src/core/access/secret-rotation.js';
import { Secrets } from '../../../src/core/access/secrets.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Store } from '../../../src/core/ports/store.js';
import { keptLog, testApp } from '../../support/core.js';
import { createMemoryStore } from '../../support/memory-store/store.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const A = nodeDigests.sha256('client-a-of-some-length');
const B = nodeDigests.sha256('client-b-of-some-length');
const KEY = 'sk-proj-0123456789abcdef';

let store: Store;
beforeEach(() => {
  store = createMemoryStore();
});
afterEach(() => store.close());

function keysUnder(...sealing: readonly Buffer[]): ProviderKeys {
  return new ProviderKeys({
    ...{ secretStore: store, digests: nodeDigests, clock: systemClock, log: keptLog() },
    ...{ maxAppBytes: 10_000, sealer: createSealer(sealing) },
  });
}

function keep(
  keys: ProviderKeys,
  client: string,
  over: { provider?: string; apiKey?: string; label?: string } = {},
) {
  return keys.store(client, { provider: 'openai', apiKey: KEY, label: undefined, ...over });
}

describe('ProviderKeys', () => {
  it('stores one key per provider, and gives it to its client alone', async () => {
    const keys = keysUnder(older);
    await keep(keys, A);
    await keep(keys, A, { provider: 'anthropic', apiKey: 'sk-ant-12345678', label: ' work ' });
    expect(await keys.keyFor(A, 'openai')).toBe(KEY);
    expect(await keys.keyFor(A, 'anthropic')).toBe('sk-ant-12345678');
    expect(await keys.keyFor(A, 'google')).toBeUndefined();
    expect(await keys.keyFor(B, 'openai')).toBeUndefined();
    expect(await keys.list(A)).toEqual([
      { provider: 'anthropic', keyPrefix: 'sk-an', label: 'work', isActive: true },
      { provider: 'openai', keyPrefix: 'sk-proj', label: null, isActive: true },
    ]);
    expect(await keys.list(B)).toEqual([]);
    await keep(keys, A, { apiKey: 'sk-proj-another-key' });
    expect(await keys.keyFor(A, 'openai')).toBe('sk-proj-another-key');
    expect(await keys.delete(B, 'openai')).toBe(false);
    expect(await keys.delete(A, 'openai')).toBe(true);
    expect(await keys.delete(A, 'openai')).toBe(false);
    expect(await keys.keyFor(A, 'openai')).toBeUndefined();
    expect(await keys.list(A)).toHaveLength(1);
  });

  it.each([
    ['12345678', '12'],
    ['123456789', '123'],
    ['0'.repeat(21), '0000000'],
    ['0'.repeat(100), '0000000'],
  ])('shows at most a third of a key, and at most 7 characters (%s)', async (apiKey, shown) => {
    expect((await keep(keysUnder(older), A, { apiKey })).keyPrefix).toBe(shown);
  });

  it('removes white space around a pasted key', async () => {
    const keys = keysUnder(older);
    await keep(keys, A, { apiKey: `\n ${KEY}\t` });
    expect(await keys.keyFor(A, 'openai')).toBe(KEY);
  });

  it.each<readonly [string, { provider?: string; apiKey?: string; label?: string }, string]>([
    ['an unknown provider', { provider: 'openrouter' }, 'provider'],
    ['a provider in other case', { provider: 'OpenAI' }, 'provider'],
    ['the demo rig', { provider: 'demo' }, 'provider'],
    ['a short key', { apiKey: '1234567' }, 'api_key'],
    ['a long key', { apiKey: 'k'.repeat(4097) }, 'api_key'],
    ['a key with a blank', { apiKey: 'sk-1234 5678' }, 'api_key'],
    ['a key with a line break', { apiKey: 'sk-1234\r\nX-Evil: 1' }, 'api_key'],
    ['a key that is not ASCII', { apiKey: 'sk-1234567ü' }, 'api_key'],
    ['a long label', { label: 'l'.repeat(101) }, 'label'],
    ['a label with a control character', { label: 'a\u0000b' }, 'label'],
    ['a label with a lone surrogate', { label: 'a\ud800' }, 'label'],
  ])('refuses %s', async (_name, over, path) => {
    const keys = keysUnder(older);
    const refused = keep(keys, A, over);
    await expect(refused).rejects.toMatchObject({ reason: 'invalid', details: [{ path }] });
    await expect(refused).rejects.not.toThrow(over.apiKey ?? 'sk-');
    expect(await keys.list(A)).toEqual([]);
  });

  it('names the providers that it knows', async () => {
    await expect(keep(keysUnder(older), A, { provider: 'x' })).rejects.toThrow(
      'provider must be one of openai, anthropic, google, openai-compatible',
    );
  });

  it('refuses a key when all keys together fill their room', async () => {
    const keys = keysUnder(older);
    await keep(keys, A, { apiKey: 'k'.repeat(4_000) });
    await expect(keep(keys, B, { apiKey: 'k'.repeat(4_000) })).rejects.toMatchObject({
      reason: 'too_many',
      retryAfter: 3600,
    });
    expect(await keys.list(B)).toEqual([]);
  });

  it('never uses a key that can no longer be decrypted, and never the configured key in its place', async () => {
    await keep(keysUnder(older), A);
    const keys = keysUnder(newer);
    expect(await keys.list(A)).toEqual([{ provider: 'openai', keyPrefix: '', label: null, isActive: false }]);
    await expect(keys.keyFor(A, 'openai')).rejects.toThrow(RigError);
    await expect(keys.keyFor(A, 'openai')).rejects.toThrow(/^Your key for openai can no longer be opened/);
    expect(await keys.keyFor(A, 'google')).toBeUndefined();
    expect(await keys.delete(A, 'openai')).toBe(true);
    expect(await keys.keyFor(A, 'openai')).toBeUndefined();
  });

  it('follows the rotation of the sealing key', async () => {
    await keep(keysUnder(older), A);
    const never = new AbortController().signal;
    expect(await rotateSecrets({ store, sealer: createSealer([newer, older]) }, never)).toMatchObject({
      rotated: 1,
    });
    expect(await keysUnder(newer).keyFor(A, 'openai')).toBe(KEY);
  });

  it('records the use of a key by turns, not by lists', async () => {
    const keys = keysUnder(older);
    const usedAt = async () => (await store.listSecretClients(1))[0]?.usedAt;
    await keep(keys, A);
    await keys.list(A);
    await keys.keyFor(A, 'google');
    expect(await usedAt()).toBeNull();
    await keys.keyFor(A, 'openai');
    expect(await usedAt()).toBeGreaterThan(0);
  });

  it('keeps apart from the secrets of the same client', async () => {
    const keys = keysUnder(older);
    const access = createAccess({
      ...{ apps: [testApp()], digests: nodeDigests, clock: systemClock },
      findKey: (digest) => store.findKey(digest),
    });
    const secrets = new Secrets({
      ...{ secretStore: store, digests: nodeDigests, access, clock: systemClock, log: keptLog() },
      ...{ maxAppBytes: 10_000, sealer: createSealer([older]) },
    });
    const clientId = 'client-a-of-some-length';
    await keep(keys, A);
    await secrets.store({ clientId, values: { openai: 'v' }, app: undefined, key: undefined });
    expect(await secrets.names(A)).toEqual({ default: ['openai'] });
    expect([...(await secrets.open(A, testApp()))]).toEqual([['openai', 'v']]);
    expect([...(await secrets.open(A, testApp({ name: '@provider-keys' })))]).toEqual([]);
    for (const app of [null, '@provider-keys']) await secrets.delete(A, { app, name: null });
    expect(await secrets.names(A)).toEqual({});
    expect(await keys.keyFor(A, 'openai')).toBe(KEY);
    const rows = JSON.stringify(await store.readSecretsNotUnder('none', 10));
    for (const hidden of [KEY, A]) expect(rows).not.toContain(hidden);
  });
});
