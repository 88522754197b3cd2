/** Rotation offsets of the lanes in the order in which the permutation visits them, and that order. */
const ROTATIONS = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44];
const LANES = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1];
const ROUNDS = 24;
/** The number of bytes that one permutation absorbs. */
const RATE = 136;
const MASK = (1n << 64n) - 1n;

/**
 * Returns the Keccak-256 digest as lower-case hex. Written for short texts such as addresses; it is the digest that
 * Ethereum uses, whose padding differs from that of SHA3-256 (FIPS 202).
 */
export function keccak256(bytes: Uint8Array): string {
  const padded = new Uint8Array(RATE * (Math.floor(bytes.length / RATE) + 1));
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const words = new BigUint64Array(padded.length / 8);
  const view = new DataView(padded.buffer);
  for (let index = 0; index < words.length; index++) words[index] = view.getBigUint64(index * 8, true);
  const state = new BigUint64Array(25);
  for (let start = 0; start < words.length; start += RATE / 8) {
    for (let lane = 0; lane < RATE / 8; lane++) xor(state, lane, words[start + lane] ?? 0n);
    permute(state);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane++) digest.setBigUint64(lane * 8, state[lane] ?? 0n, true);
  return Array.from({ length: 32 }, (_, index) => digest.getUint8(index).toString(16).padStart(2, '0')).join(
    '',
  );
}

/** Applies Keccak-f[1600] (FIPS 202, section 3.3). */
function permute(state: BigUint64Array): void {
  let shift = 1;
  for (let round = 0; round < ROUNDS; round++) {
    theta(state);
    let carried = state[1] ?? 0n;
    LANES.forEach((lane, index) => {
      const next = state[lane] ?? 0n;
      state[lane] = rotated(carried, ROTATIONS[index] ?? 0);
      carried = next;
    });
    for (let row = 0; row < 25; row += 5) {
      const lanes = state.slice(row, row + 5);
      for (let x = 0; x < 5; x++) {
        const not = ~(lanes[(x + 1) % 5] ?? 0n) & MASK;
        xor(state, row + x, not & (lanes[(x + 2) % 5] ?? 0n));
      }
    }
    for (let bit = 0; bit < 7; bit++) {
      if ((shift & 1) === 1) xor(state, 0, 1n << BigInt((1 << bit) - 1));
      shift = (shift << 1) ^ ((shift >> 7) * 0x171);
    }
  }
}

function theta(state: BigUint64Array): void {
  const columns = Array.from({ length: 5 }, (_, x) =>
    [0, 5, 10, 15, 20].reduce((sum, row) => sum ^ (state[row + x] ?? 0n), 0n),
  );
  for (let lane = 0; lane < 25; lane++) {
    const x = lane % 5;
    xor(state, lane, (columns[(x + 4) % 5] ?? 0n) ^ rotated(columns[(x + 1) % 5] ?? 0n, 1));
  }
}

function xor(state: BigUint64Array, lane: number, value: bigint): void {
  state[lane] = (state[lane] ?? 0n) ^ value;
}

function rotated(value: bigint, bits: number): bigint {
  return ((value << BigInt(bits)) | (value >> BigInt(64 - bits))) & MASK;
}
