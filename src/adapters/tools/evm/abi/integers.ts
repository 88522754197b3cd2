import { formatUnits } from 'viem';
import type { JsonValue } from '../../../../core/model/json.js';
import { ChainError } from '../chain-error.js';

/** In characters: the digits of 256 bits, a sign, and some blanks. */
const MAX_LENGTH = 100;
const MAX_UINT8 = 255;

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

/**
 * Shows an amount in units, with the decimals that a contract returned as a uint8. The client library decodes a uint8
 * without checking its range, and formatting takes quadratic time in the decimals.
 * @throws ChainError when the decimals exceed 255
 */
export function formatContractUnits(amount: bigint, decimals: number): string {
  if (decimals <= MAX_UINT8) return formatUnits(amount, decimals);
  throw new ChainError(`The contract returned ${String(decimals)} decimals, which is more than 255.`);
}
