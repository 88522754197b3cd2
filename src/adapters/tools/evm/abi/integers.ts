import type { JsonValue } from '../../../../core/model/json.js';

/** In characters: the digits of 256 bits, a sign, and some blanks. */
const MAX_LENGTH = 100;

/** The integer of a JSON number or of text, decimal or `0x` hex; undefined: it is none, or JSON cannot carry it exactly. */
export function integerOf(given: JsonValue): bigint | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : undefined;
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return undefined;
  const text = given.trim();
  if (/^-\d+$/.test(text)) return -BigInt(text.slice(1));
  return /^(?:\d+|0x[0-9a-f]+)$/i.test(text) ? BigInt(text) : undefined;
}

/** Whether an integer is in the range of `uint<bits>` or `int<bits>`. */
export function fitsInteger(value: bigint, bits: number, isUnsigned: boolean): boolean {
  return value === (isUnsigned ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value));
}
