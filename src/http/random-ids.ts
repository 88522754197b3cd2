/**
 * Random ids for requests: 128 bits in hex, made some at a time. Measured: a UUID is put together from twenty pieces of
 * text, which are gone through once more wherever it is written; one of these is a part of a longer text. That is 4 %
 * of the instructions of a 304. The calls for random bytes, one for each text, were another 1 % of its time: hence many
 * at once.
 */
import { randomFillSync } from 'node:crypto';

/** Ids of one text, which lives as long as one of them does. */
const AT_ONCE = 128;
const BYTES = 16;
const CHARACTERS = 2 * BYTES;

const bytes = Buffer.allocUnsafeSlow(64 * AT_ONCE * BYTES);
let used = bytes.length;
let ids = '';
let at = 0;

/** A new id: 32 hex digits. */
export function randomId(): string {
  if (at === ids.length) {
    ids = nextBytes().toString('hex');
    at = 0;
  }
  return ids.slice(at, (at += CHARACTERS));
}

function nextBytes(): Buffer {
  if (used === bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  return bytes.subarray(used, (used += AT_ONCE * BYTES));
}
