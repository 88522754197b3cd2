import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countable } from '../../../src/core/model/turn.js';

it.each([
  [0, 0],
  [7, 7],
  [12.5, 13],
  [-3, 0],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, 1_000_000_000],
  [1e300, 1_000_000_000],
])('a provider that reports %p tokens is taken to mean %p', (reported, tokens) => {
  expect(countable({ inputTokens: reported, outputTokens: reported })).toEqual({
    inputTokens: tokens,
    outputTokens: tokens,
  });
});

it('counts of a thousand requests can be added up', () => {
  fc.assert(
    fc.property(fc.double(), fc.double(), (inputTokens, outputTokens) => {
      const counts = countable({ inputTokens, outputTokens });
      for (const tokens of [counts.inputTokens, counts.outputTokens]) {
        expect(Number.isSafeInteger(tokens * 1000)).toBe(true);
        expect(Object.is(tokens, Math.abs(tokens))).toBe(true);
      }
    }),
  );
});
