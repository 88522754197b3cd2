import { randomUUID } from 'node:crypto';
import { nodeDigests } from '../../src/adapters/platform/node/digests.js';
import type { StoredKey, Store } from '../../src/core/ports/store.js';

/** Stores an App key for these Apps and returns it. */
export async function grantKey(
  store: Pick<Store, 'saveKey'>,
  apps: readonly string[],
  fields: Partial<StoredKey> = {},
): Promise<string> {
  const key = `sk-app-${Buffer.from(randomUUID() + randomUUID())
    .subarray(0, 32)
    .toString('base64url')}`;
  const stored = { id: randomUUID(), digest: nodeDigests.sha256(key), apps, label: 'test', createdAt: 0 };
  await store.saveKey({ ...stored, expiresAt: null, revokedAt: null, ...fields });
  return key;
}
