import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes are generated for this many ids at once: a call per id would dominate its cost. */
const POOLED = 256;
const BYTES = 16;

const pool = Buffer.alloc(POOLED * BYTES);
let used = pool.length;

/** The timestamp of the newest id in milliseconds, and its sequence number within that millisecond. */
let milliseconds = 0;
let sequence = 0;

/**
 * Creates a UUID of version 7 (RFC 9562), greater than all earlier ones of this process even if the clock goes back.
 */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += BYTES));
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // The upper half of the range is left for further ids of the same millisecond.
    sequence = random.readUInt32BE(0) >>> 1;
  } else sequence += 1;
  return v7({ random, msecs: milliseconds, seq: sequence });
}
