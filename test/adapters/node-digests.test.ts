import { describe, expect, it } from '@jest/globals';
import { nodeDigests } from '../../src/adapters/platform/node/digests.js';

describe('digests by node:crypto', () => {
  it('are SHA-256 of the UTF-8 bytes in lower-case hex (FIPS 180-4)', () => {
    expect(nodeDigests.sha256('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(nodeDigests.sha256('ä')).toBe(nodeDigests.sha256('\u00e4'));
    expect(nodeDigests.sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it.each([
    ['same', 'same', true],
    ['', '', true],
    ['same', 'sAme', false],
    ['same', 'same!', false],
    ['ä', 'ab', false], // as many bytes, not as many characters
    ['a', 'ä', false],
  ])('compare %j with %j', (a, b, equal) => {
    expect(nodeDigests.equal(a, b)).toBe(equal);
  });
});
