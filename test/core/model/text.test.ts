import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutText, wellFormed, wellFormedJson, WellFormedPieces } from '../../../src/core/model/text.js';

const units = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00', '👋', '\uFFFD') });

describe('WellFormedPieces', () => {
  it('makes the same of pieces as of the whole, and no piece that is not well-formed', () => {
    fc.assert(
      fc.property(fc.array(units), (pieces) => {
        const text = new WellFormedPieces();
        const shown = [...pieces.map((piece) => text.add(piece)), text.end()];
        for (const piece of shown) expect(piece).toBe(wellFormed(piece));
        expect(shown.join('')).toBe(wellFormed(pieces.join('')));
      }),
    );
  });

  it('holds back half of a pair alone', () => {
    const text = new WellFormedPieces();
    expect([text.add('Hi \ud83d'), text.add('\ude00 you'), text.end()]).toEqual(['Hi ', '😀 you', '']);
    expect([text.add('\ud83d'), text.end()]).toEqual(['', '\uFFFD']);
  });
});

describe('cutText', () => {
  it.each([
    ['abc', 5, 'abc'],
    ['abc', 2, 'ab'],
    ['a😀', 2, 'a'],
    ['a😀', 3, 'a😀'],
    ['abc', 0, ''],
  ])('cuts %j to %i units', (text, length, cut) => {
    expect(cutText(text, length)).toBe(cut);
  });
});

describe('wellFormedJson', () => {
  it('replaces in texts and keys at any depth', () => {
    const value = { 'a\0': ['\ud800', { b: '\0', c: 1, d: null, e: true }], f: '👋' };
    expect(wellFormedJson(value)).toEqual({
      'a\uFFFD': ['\uFFFD', { b: '\uFFFD', c: 1, d: null, e: true }],
      f: '👋',
    });
  });

  it('gives back the value itself when nothing is wrong', () => {
    const value = { a: ['👋'] };
    expect(wellFormedJson(value)).toBe(value);
  });
});
