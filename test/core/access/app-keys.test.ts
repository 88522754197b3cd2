import { createHash, timingSafeEqual } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { hasKeyForm, isInForce, mintKey } from '../../../src/core/access/app-keys.js';
import type { Digests } from '../../../src/core/ports/digests.js';

const digests: Digests = {
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
  equal: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
};

function mint(bytes: Uint8Array, apps: readonly string[] = ['one']) {
  return mintKey({
    apps,
    label: 'for the bot',
    expiresAt: 5000,
    randomBytes: (count) => {
      expect(count).toBe(32);
      return bytes;
    },
    clock: { ...systemClock, now: () => 1000, monotonic: () => 1000, newId: () => 'the-id' },
    digests,
  });
}

describe('mintKey', () => {
  it('makes sk-app- and 32 bytes in base64url, and keeps only the digest', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => 255 - index);
    const { key, stored } = mint(bytes);
    expect(key).toBe(`sk-app-${Buffer.from(bytes).toString('base64url')}`);
    expect(hasKeyForm(key)).toBe(true);
    expect(stored).toEqual({
      id: 'the-id',
      digest: digests.sha256(key),
      apps: ['one'],
      label: 'for the bot',
      createdAt: 1000,
      expiresAt: 5000,
      revokedAt: null,
    });
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  it('names each App once', () => {
    expect(mint(new Uint8Array(32), ['b', 'a', 'b']).stored.apps).toEqual(['b', 'a']);
  });
});

describe('hasKeyForm', () => {
  const good = `sk-app-${'A'.repeat(43)}`;

  it.each([
    [good, true],
    [good.slice(0, -1), false],
    [`${good}A`, false],
    [`${good}\n`, false],
    [` ${good}`, false],
    [good.replace('sk-app-', 'sk_app_'), false],
    [good.replace('A', '='), false],
    [good.replace('A', '-'), true],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(hasKeyForm(text)).toBe(expected);
  });
});

describe('isInForce', () => {
  const { stored } = mint(new Uint8Array(32));

  it.each([
    ['before it expires', {}, 4999, true],
    ['at the moment it expires', {}, 5000, false],
    ['without an end', { expiresAt: null }, 1e15, true],
    ['revoked', { revokedAt: 10 }, 1000, false],
    ['revoked, without an end', { revokedAt: 10, expiresAt: null }, 1000, false],
  ])('%s', (_name, change, at, expected) => {
    expect(isInForce({ ...stored, ...change }, at)).toBe(expected);
  });
});
