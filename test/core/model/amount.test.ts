import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatUnits, parseUnits, parseWei } from '../../../src/core/model/amount.js';

const MAX = 2n ** 256n - 1n;
const decimals = fc.constantFrom(0, 1, 6, 8, 18, 77);

describe('parseUnits', () => {
  it('is exact for every amount that a transaction can have', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: MAX }), decimals, (wei, places) => {
        expect(parseUnits(formatUnits(wei, places), places)).toBe(wei);
      }),
    );
  });

  it.each<readonly [string, number, bigint | undefined]>([
    ['0.01', 18, 10_000_000_000_000_000n],
    [' 1 ', 18, 1_000_000_000_000_000_000n],
    ['0.10', 1, 1n],
    ['1e-19', 18, undefined],
    ['0.0000000000000000001', 18, undefined],
    ['0.0000000000000000010', 18, 1n],
    ['0', 255, 0n],
    ['0', 256, undefined],
    ['1', 10_000_000, undefined],
    ['1.5', 0, undefined],
    ['1.0', 0, 1n],
    [`1${'0'.repeat(77)}`, 0, 10n ** 77n],
    [`1${'0'.repeat(77)}`, 1, undefined],
    [String(MAX), 0, MAX],
    [String(MAX + 1n), 0, undefined],
    ['1', 77, 10n ** 77n],
    [`0.${'0'.repeat(76)}1`, 77, 1n],
    ['-1', 18, undefined],
    ['+1', 18, undefined],
    ['1,5', 18, undefined],
    ['.5', 18, undefined],
    ['1.', 18, undefined],
    ['0x10', 18, undefined],
    ['٣', 18, undefined],
    ['', 18, undefined],
    ['1'.repeat(100_000), 18, undefined],
  ])('of %j with %d decimals is %s', (text, places, wei) => {
    expect(parseUnits(text, places)).toBe(wei);
  });
});

describe('formatUnits', () => {
  it.each<readonly [bigint, number, string]>([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [1_500_000_000_000_000_000n, 18, '1.5'],
    [7n, 0, '7'],
    [10n ** 77n, 77, '1'],
  ])('of %s with %d decimals is %s', (wei, places, text) => {
    expect(formatUnits(wei, places)).toBe(text);
  });
});

describe('parseWei', () => {
  it('reads digits of at most 256 bits', () => {
    expect([parseWei('0'), parseWei(String(MAX))]).toEqual([0n, MAX]);
    for (const text of [String(MAX + 1n), '-1', '1.0', '0x1', '', ' 1', '1'.repeat(1_000)]) {
      expect(parseWei(text)).toBeUndefined();
    }
  });
});
