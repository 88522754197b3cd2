import { keccak256 } from './keccak.js';

const ADDRESS = /^0x[0-9a-f]{40}$/i;

/** True for the text of an address, with or without a checksum. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value);
}

/** True for two texts of one address. */
export function isSameAddress(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() === other.toLowerCase();
}

/** Returns an address with its checksum (EIP-55); other text unchanged. */
export function checksummed(address: string): string {
  if (!isAddress(address)) return address;
  const digits = address.slice(2).toLowerCase();
  const hash = keccak256(new TextEncoder().encode(digits));
  const letters = digits.replaceAll(/[a-f]/g, (digit, index: number) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${letters}`;
}
