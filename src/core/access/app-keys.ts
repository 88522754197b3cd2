import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { StoredKey } from '../ports/store.js';

const KEY_BYTES = 32;
const KEY_FORM = /^sk-app-[A-Za-z0-9_-]{43}$/;

export interface KeyRequest {
  /** The Apps that the key authorizes. */
  readonly apps: readonly string[];
  readonly label: string;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** Returns `count` cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
  readonly clock: Clock;
  readonly digests: Digests;
}

/** Creates an App key. `key` is shown to the operator once; `stored` has only its digest. */
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

/** True if the text has the format of an App key. */
export function hasKeyForm(text: string): boolean {
  return KEY_FORM.test(text);
}

/** @param at milliseconds since the epoch */
export function keyStatus(key: StoredKey, at: number): 'active' | 'revoked' | 'expired' {
  if (isInForce(key, at)) return 'active';
  return key.revokedAt === null ? 'expired' : 'revoked';
}

/**
 * True if the key is neither revoked nor expired.
 * @param at milliseconds since the epoch
 */
export function isInForce(key: StoredKey, at: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > at);
}
