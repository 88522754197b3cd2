import { describe, expect, it } from '@jest/globals';
import { generateMnemonic, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { seedPhrases } from '../../src/adapters/tools/seed-phrases/seed-phrases.js';

// The published vectors of BIP 39 (https://github.com/trezor/python-mnemonic/blob/master/vectors.json).
const VECTORS = [
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  'letter advice cage absurd amount doctor acoustic avoid letter advice cage above',
  'zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong',
  'legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal will',
  'zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote',
];

function isSeedPhrase(text: string): boolean {
  return seedPhrases.startSearch()(text);
}

describe('a seed phrase', () => {
  it.each(VECTORS)('is recognised: %s', (phrase) => {
    expect(isSeedPhrase(phrase)).toBe(true);
  });

  it.each([128, 160, 192, 224, 256])('of %i bits is recognised within other words of the list', (bits) => {
    for (let n = 0; n < 50; n++) {
      const phrase = generateMnemonic(wordlist, bits);
      expect(isSeedPhrase(`zoo, ${phrase.replaceAll(' ', '\n')} zoo`)).toBe(true);
    }
  });

  it('is what its own package calls valid, and nothing else', () => {
    let valid = 0;
    for (let n = 0; n < 2000; n++) {
      const words = Array.from(
        { length: 12 },
        (_, at) => wordlist[(n * 7919 + at * at * 104_729 + n * at * 31) % 2048],
      );
      const phrase = words.join(' ');
      const isValid = validateMnemonic(phrase, wordlist);
      if (isValid) valid++;
      expect(isSeedPhrase(phrase)).toBe(isValid);
    }
    expect(valid).toBeGreaterThan(20);
  });

  it.each([
    '',
    'hello world',
    Array(24).fill('zoo').join(' '),
    'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    'abandon abandon abandon abandon abandon abandon the abandon abandon abandon abandon abandon about',
  ])('is not seen in %j', (text) => {
    expect(isSeedPhrase(text)).toBe(false);
  });

  it('may be anywhere in a text with some words of the list', () => {
    const text = 'zoo '.repeat(150);
    expect(isSeedPhrase(text)).toBe(false);
    expect(isSeedPhrase(`${text} ${VECTORS[0] ?? ''}`)).toBe(true);
    // Runs of fewer than 12 words are not checked.
    expect(isSeedPhrase(`${'zoo '.repeat(11)} x `.repeat(300))).toBe(false);
  });

  it('is assumed in 16 KiB of words of the list, in one text or in many', () => {
    expect(isSeedPhrase('zoo '.repeat(4096))).toBe(true);
    const isIn = seedPhrases.startSearch();
    const texts = Array.from({ length: 40 }, () => isIn('zoo '.repeat(100)));
    // A text of 100 words has 415 checksums.
    expect(texts).toEqual([false, false, ...Array<boolean>(38).fill(true)]);
  });
});
