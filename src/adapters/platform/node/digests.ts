import { hash, timingSafeEqual } from 'node:crypto';
import type { Digests } from '../../../core/ports/digests.js';

/** Digests by `node:crypto`. `equal` compares in constant time, except that it reveals a difference in length. */
export const nodeDigests: Digests = {
  sha256(text) {
    return hash('sha256', text);
  },

  equal(a, b) {
    const [left, right] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')];
    return left.length === right.length && timingSafeEqual(left, right);
  },
};
