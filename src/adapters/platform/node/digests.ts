import { hash, timingSafeEqual } from 'node:crypto';
import type { Digests } from '../../../core/ports/digests.js';

/** Digests by `node:crypto`. Texts of different lengths are unequal at once: a length is no secret. */
export const nodeDigests: Digests = {
  sha256(text) {
    return hash('sha256', text);
  },

  equal(a, b) {
    const [left, right] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')];
    return left.length === right.length && timingSafeEqual(left, right);
  },
};
