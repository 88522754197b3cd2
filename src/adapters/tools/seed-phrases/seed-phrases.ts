import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english';
import type { SeedPhrases } from '../../../core/ports/tool.js';

/** How many words a phrase has. */
const LENGTHS = [12, 15, 18, 21, 24];
const INDEXES = new Map(wordlist.map((word, index) => [word, index]));
const BITS_PER_WORD = 11;

/**
 * Recognises English mnemonics with a valid checksum (BIP 39), alone or within a longer text, whatever stands between
 * the words. Text of 16 KiB that is nothing but words of the list, each a possible beginning, takes some 50 ms.
 */
export const seedPhrases: SeedPhrases = {
  isSeedPhrase(text) {
    const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
    // Runs of words of the list: a phrase may stand in the middle of a sentence.
    let run: number[] = [];
    for (const word of words) {
      const index = INDEXES.get(word);
      if (index !== undefined) run.push(index);
      else if (hasPhrase(run)) return true;
      else run = [];
    }
    return hasPhrase(run);
  },
};

/** Whether a valid phrase stands anywhere in a run of words. */
function hasPhrase(run: readonly number[]): boolean {
  for (const length of LENGTHS) {
    for (let start = 0; start + length <= run.length; start++) {
      if (hasChecksum(run.slice(start, start + length))) return true;
    }
  }
  return false;
}

/** BIP 39: the words are the entropy, and then the first bits of its SHA-256, one for each 32 bits. */
function hasChecksum(indexes: readonly number[]): boolean {
  const bytes: number[] = [];
  let rest = 0;
  let bits = 0;
  for (const index of indexes) {
    rest = (rest << BITS_PER_WORD) | index;
    bits += BITS_PER_WORD;
    for (; bits >= 8; rest &= (1 << bits) - 1) {
      bits -= 8;
      bytes.push((rest >> bits) & 0xff);
    }
  }
  // Each three words are 33 bits: the entropy ends at a whole byte, and at most 8 bits follow.
  const checksumBits = indexes.length / 3;
  const entropy = Uint8Array.from(bytes.slice(0, checksumBits * 4));
  const given = bytes.length > entropy.length ? (bytes.at(-1) ?? 0) : rest;
  const right = createHash('sha256').update(entropy).digest()[0] ?? 0;
  return given === right >> (8 - checksumBits);
}
