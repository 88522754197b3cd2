import { describe, expect, it } from '@jest/globals';
import { secretBytes, type SealedSecret } from '../../src/core/ports/secret-store.js';
import type { Store } from '../../src/core/ports/store.js';
import { T0, WIDE, type WithStore } from './store-fixtures.js';

const DAY_MS = 86_400_000;

function secret(name: string, over: Partial<SealedSecret> = {}): SealedSecret {
  return { app: 'default', name, keyId: 'k1', sealed: 'c2VhbGVk', ...over };
}

const ONE = secretBytes(secret('A'));

async function namesOf(store: Store, client: string): Promise<string[]> {
  return (await store.readSecrets(client, null)).map(({ name }) => name);
}

/** What every store must do with sealed secrets. */
export function secretContract(withStore: WithStore): void {
  describe('sealed secrets', () => {
    it(
      'tells under which keys they are, each once, without the values',
      withStore(async (store) => {
        expect(await store.secretKeyIds()).toEqual([]);
        const sealed = (name: string, keyId: string) => ({ app: 'default', name, keyId, sealed: 'c2VhbGVk' });
        await store.putSecrets('c1', [sealed('A', 'k2'), sealed('B', 'k1'), sealed('C', 'k2')], WIDE, T0);
        await store.putSecrets('c2', [sealed('A', 'k3'), sealed('B', 'k1')], WIDE, T0);
        expect(await store.secretKeyIds()).toEqual(['k1', 'k2', 'k3']);
        await store.deleteSecrets('c2', { app: null, name: 'A' });
        expect(await store.secretKeyIds()).toEqual(['k1', 'k2']);
      }),
    );

    it(
      'are bounded in number by client and App, and in bytes by client and by App',
      withStore(async (store) => {
        const bounds = { names: 2, client: 4 * ONE, app: 5 * ONE };
        const put = (client: string, secrets: readonly SealedSecret[]) =>
          store.putSecrets(client, secrets, bounds, T0);
        expect(await put('c1', [secret('A'), secret('B')])).toBe('stored');
        expect(await put('c1', [secret('C')])).toBe('names');
        expect(await put('c1', [secret('A', { app: 'other' }), secret('B', { app: 'other' })])).toBe(
          'stored',
        );
        expect(await put('c1', [secret('A', { app: 'third' })])).toBe('client');
        expect(await put('c2', [secret('A'), secret('B')])).toBe('stored');
        expect(await put('c3', [secret('A'), secret('B')])).toBe('app');
        expect(await put('c3', [secret('A')])).toBe('stored');
        // What is refused leaves nothing behind, and what makes nothing larger is never refused.
        expect(await namesOf(store, 'c1')).toEqual(['A', 'B', 'A', 'B']);
        expect(await namesOf(store, 'c3')).toEqual(['A']);
        expect(await put('c1', [secret('A', { keyId: 'k2' })])).toBe('stored');
        expect(await put('c1', [secret('A', { sealed: 'bG9uZ2Vy' + 'c2VhbGVk' })])).toBe('client');
        await store.deleteSecrets('c1', { app: null, name: 'B' });
        expect(await put('c4', [secret('A')])).toBe('stored');
      }),
    );

    it(
      'do not pass a bound together when they are stored at the same time',
      withStore(async (store) => {
        const bounds = { names: 3, client: 1e9, app: 6 * ONE };
        const outcomes = await Promise.all(
          Array.from({ length: 24 }, (_, n) =>
            store.putSecrets(`c${String(n % 6)}`, [secret(String.fromCharCode(65 + n))], bounds, T0),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(6);
        expect(await store.secretTotals()).toEqual([{ app: 'default', secrets: 6, bytes: 6 * ONE }]);
        const ofOne = await Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            store.putSecrets('one', [secret(`N${String(n)}`, { app: 'third' })], bounds, T0),
          ),
        );
        expect(ofOne.filter((outcome) => outcome === 'stored')).toHaveLength(3);
      }),
    );

    it(
      'are counted by App, whatever is stored, replaced, sealed again or removed',
      withStore(async (store) => {
        expect(await store.secretTotals()).toEqual([]);
        const long = secret('B', { sealed: 'x'.repeat(1_000) });
        await store.putSecrets('c1', [secret('A'), long, secret('A', { app: 'other' })], WIDE, T0);
        expect(await store.secretTotals()).toEqual([
          { app: 'default', secrets: 2, bytes: ONE + secretBytes(long) },
          { app: 'other', secrets: 1, bytes: ONE },
        ]);
        await store.putSecrets('c1', [secret('B'), secret('C')], WIDE, T0);
        await store.resealSecret(
          'c1',
          secret('C'),
          secret('C', { keyId: 'k2', sealed: 'bG9uZ2Vy' + 'c2VhbGVk' }),
        );
        await store.deleteSecrets('c1', { app: 'other', name: null });
        expect(await store.secretTotals()).toEqual([{ app: 'default', secrets: 3, bytes: 3 * ONE + 8 }]);
      }),
    );

    it(
      'go when they were neither stored nor used since a time, some at once',
      withStore(async (store) => {
        await store.putSecrets('used', [secret('A'), secret('B', { app: 'other' })], WIDE, T0);
        await store.putSecrets('unused', [secret('A'), secret('B'), secret('C')], WIDE, T0);
        await store.putSecrets('new', [secret('A')], WIDE, T0 + 30 * DAY_MS);
        await store.noteSecretUse('used', T0 + 20 * DAY_MS, T0 + 19 * DAY_MS);
        // Less than a day after the last use that was noted.
        await store.noteSecretUse('used', T0 + 20 * DAY_MS + 1, T0 + 19 * DAY_MS + 1);
        const clients = await store.listSecretClients(10);
        expect(clients).toEqual([
          { client: 'unused', secrets: 3, bytes: 3 * ONE, storedAt: T0, usedAt: null },
          { client: 'used', secrets: 2, bytes: 2 * ONE, storedAt: T0, usedAt: T0 + 20 * DAY_MS },
          { client: 'new', secrets: 1, bytes: ONE, storedAt: T0 + 30 * DAY_MS, usedAt: null },
        ]);
        expect(await store.listSecretClients(1)).toEqual(clients.slice(0, 1));
        expect(await store.pruneSecrets(T0, 10)).toBe(0);
        expect(await store.pruneSecrets(T0 + DAY_MS, 2)).toBe(2);
        expect(await store.pruneSecrets(T0 + DAY_MS, 2)).toBe(1);
        expect(await namesOf(store, 'unused')).toEqual([]);
        expect(await namesOf(store, 'used')).toEqual(['A', 'B']);
        expect(await store.pruneSecrets(T0 + 20 * DAY_MS + 1, 10)).toBe(2);
        expect(await store.secretTotals()).toEqual([{ app: 'default', secrets: 1, bytes: ONE }]);
      }),
    );
  });
}
