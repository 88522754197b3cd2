import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english';
import type { SeedPhrases } from '../../../core/ports/tool.js';

/** Valid numbers of words in a phrase (BIP 39). */
const LENGTHS = [12, 15, 18, 21, 24];
const INDEXES = new Map(wordlist.map((word, index) => [word, index]));
const BITS_PER_WORD = 11;
/**
 * Limit of the checksums that one search computes. A run of words that needs more would almost certainly contain a valid
 * checksum if its words were random: one in 16 sequences of 12 words has one.
 */
const MAX_CHECKSUMS = 1_000;

/**
 * Recognizes English mnemonics with a valid checksum (BIP 39), alone or within a longer text, whatever separates the
 * words. A text that exceeds the limit of checksums counts as one.
 */
export const seedPhrases: SeedPhrases = {
  startSearch() {
    let checksums = 0;

    /** True when a run of words contains a valid phrase at any position. */
    function hasPhrase(run: readonly number[]): boolean {
      for (const length of LENGTHS) {
        for (let start = 0; start + length <= run.length; start++) {
          if (++checksums > MAX_CHECKSUMS || hasChecksum(run.slice(start, start + length))) return true;
        }
      }
      return false;
    }

    return (text) => {
      const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
      // Collect runs of wordlist words: a phrase may stand in the middle of a sentence.
      let run: number[] = [];
      for (const word of words) {
        const index = INDEXES.get(word);
        if (index !== undefined) run.push(index);
        else if (hasPhrase(run)) return true;
        else run = [];
      }
      return hasPhrase(run);
    };
  },
};

/** BIP 39: the words encode the entropy, followed by one bit of its SHA-256 per 32 bits of entropy. */
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
  // Three words hold 32 bits of entropy and 1 checksum bit, so the entropy ends at a byte boundary and at most 8 bits
  // follow.
  const checksumBits = indexes.length / 3;
  const entropy = Uint8Array.from(bytes.slice(0, checksumBits * 4));
  const given = bytes.length > entropy.length ? (bytes.at(-1) ?? 0) : rest;
  const right = createHash('sha256').update(entropy).digest()[0] ?? 0;
  return given === right >> (8 - checksumBits);
}
