import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSealer } from '../../src/adapters/platform/node/sealer.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];

describe('the sealer', () => {
  it.each(['x', 'a key with ünïcode 🔑 and \0', 'y'.repeat(8192)])('opens what it has sealed', (value) => {
    const sealer = createSealer([older]);
    const sealed = sealer.seal(value, 'place');
    expect(sealer.open(sealed, 'place')).toBe(value);
  });

  it('seals the same value differently each time', () => {
    const sealer = createSealer([older]);
    const all = new Set(Array.from({ length: 100 }, () => sealer.seal('v', 'p').sealed));
    expect(all.size).toBe(100);
  });

  it('does not open it in another place, nor with a bit changed', () => {
    const sealer = createSealer([older]);
    const { keyId, sealed } = sealer.seal('value', 'place');
    expect(() => sealer.open({ keyId, sealed }, 'elsewhere')).toThrow();
    const bytes = Buffer.from(sealed, 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => sealer.open({ keyId, sealed: changed.toString('base64') }, 'place')).toThrow();
    }
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length).toString('base64');
      expect(() => sealer.open({ keyId, sealed: cut }, 'place')).toThrow();
    }
  });

  it('seals under the newest key and opens what any of its keys has sealed', () => {
    const before = createSealer([older]).seal('value', 'place');
    const both = createSealer([newer, older]);
    expect(both.open(before, 'place')).toBe('value');
    const after = both.seal('value', 'place');
    expect(after.keyId).toBe(createSealer([newer]).keyId);
    expect(createSealer([newer]).open(after, 'place')).toBe('value');
    expect(() => createSealer([newer]).open(before, 'place')).toThrow(before.keyId);
  });

  it('has an id that reveals nothing about its key', () => {
    const { keyId } = createSealer([older]);
    expect(keyId).toMatch(/^[0-9a-f]{16}$/);
    expect(older.toString('hex')).not.toContain(keyId);
  });

  it('needs a key of 32 bytes', () => {
    expect(() => createSealer([])).toThrow(RangeError);
    for (const bytes of [0, 16, 31, 33]) expect(() => createSealer([randomBytes(bytes)])).toThrow(RangeError);
    expect(() => createSealer([newer, randomBytes(31)])).toThrow(RangeError);
  });
});
