/** The largest value of a transaction: 256 bits. */
const MAX_WEI = 2n ** 256n - 1n;
/** The most decimals that a currency may have; padding to more would be slow. */
const MAX_DECIMALS = 255;
/** A decimal number of bounded length. */
const UNITS = /^(\d{1,78})(?:\.(\d{1,78}))?$/;

/**
 * Converts an amount in units of a currency (`0.01`) to its smallest unit, exactly.
 * @param decimals how many decimals the currency has, at least 0
 * @returns undefined when the text is not a decimal number, has more decimals than the currency, or exceeds 256 bits,
 *   and when the currency has more than 255 decimals
 */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  const [, whole, given = ''] = UNITS.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const fraction = given.replace(/0+$/, '');
  if (fraction.length > decimals || decimals > MAX_DECIMALS) return undefined;
  const wei = BigInt(whole + fraction.padEnd(decimals, '0'));
  return wei <= MAX_WEI ? wei : undefined;
}

/** Shows an amount of the smallest unit in units of a currency, exactly and without trailing zeros. */
export function formatUnits(wei: bigint, decimals: number): string {
  const digits = String(wei).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Reads an amount of the smallest unit in decimal digits. Undefined: it is none, or exceeds 256 bits. */
export function parseWei(text: string): bigint | undefined {
  if (!/^\d{1,78}$/.test(text)) return undefined;
  const wei = BigInt(text);
  return wei <= MAX_WEI ? wei : undefined;
}
