import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { StoredKey } from '../ports/store.js';

/** How many random bytes an App key has. */
const KEY_BYTES = 32;
const KEY_FORM = /^sk-app-[A-Za-z0-9_-]{43}$/;

/** What `mintKey` needs. */
export interface KeyRequest {
  /** The Apps that the key authorizes. */
  readonly apps: readonly string[];
  readonly label: string;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** That many unpredictable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly clock: Clock;
  readonly digests: Digests;
}

/** Makes an App key: `key` to show once, `stored` to keep. */
export function mintKey(request: KeyRequest): { readonly key: string; readonly stored: StoredKey } {
  const { apps, label, expiresAt, randomBytes, clock, digests } = request;
  const key = `sk-app-${Buffer.from(randomBytes(KEY_BYTES)).toString('base64url')}`;
  const stored = {
    id: clock.newId(),
    digest: digests.sha256(key),
    apps: [...new Set(apps)],
    label,
    createdAt: clock.now(),
    expiresAt,
    revokedAt: null,
  };
  return { key, stored };
}

/** Whether a text can be an App key at all. */
export function hasKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/** What has become of a key at a time. */
export function keyStatus(key: StoredKey, at: number): 'active' | 'revoked' | 'expired' {
  if (isInForce(key, at)) return 'active';
  return key.revokedAt === null ? 'expired' : 'revoked';
}

/** Whether a key holds at a time: neither revoked nor expired. */
export function isInForce(key: StoredKey, at: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at);
}
