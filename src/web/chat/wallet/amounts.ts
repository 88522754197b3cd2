/** Returns a quantity as wallets take it: hex without leading zeros. */
export function hexOf(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}

/** Returns UTF-8 text as hex. */
export function hexText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns an amount in units of a currency, exactly. */
export function inUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return rest === '' ? whole : `${whole}.${rest}`;
}

/** Returns a number with spaces between groups of three digits, which reading it aloud ignores. */
export function grouped(amount: bigint): string {
  return amount.toString().replaceAll(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}
