import type { FeedSettings } from './settings.js';

/** The currency of what names none. */
export const DEFAULT_CURRENCY = 'usd';

/** A price as a source gave it. */
export interface Quote {
  readonly kind: 'quote';
  /** A plain decimal number. */
  readonly price: string;
  readonly source: 'chainlink' | 'http';
  /** When the source made it, in seconds since the epoch; null: it does not say. */
  readonly updatedAt: number | null;
  /** How old it may be, in seconds; null: the source promises nothing. */
  readonly heartbeatSeconds: number | null;
}

/** No price, and why, in words. `unknown`: no source is configured for it; `failed`: one is, and gave none. */
export interface NoQuote {
  readonly kind: 'unknown' | 'failed';
  readonly words: string;
}

/** What came of one symbol. */
export type Answer = Quote | NoQuote;

/** Asks for several symbols at once. Never fails: what went wrong is in the answers. */
export type QuoteSource = (
  symbols: readonly string[],
  currency: string,
) => Promise<ReadonlyMap<string, Answer>>;

/** A symbol as it is compared: upper case, without a dollar sign. */
export function symbolKey(symbol: string): string {
  return symbol.trim().replace(/^\$/, '').toUpperCase();
}

/** True when a feed prices a symbol in a currency. */
export function isPricedBy({ symbol, currency }: FeedSettings, wanted: string, inCurrency: string): boolean {
  return symbolKey(symbol) === wanted && (currency ?? DEFAULT_CURRENCY).toLowerCase() === inCurrency;
}

/** A number without an exponent: 1.2e-7 is 0.00000012. */
export function plainDecimal(value: number): string {
  const {
    sign = '',
    whole = '',
    fraction = '',
    exponent,
  } = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<fraction>\d+))?(?:e(?<exponent>[+-]\d+))?$/.exec(String(value))
    ?.groups ?? {};
  if (exponent === undefined) return String(value);
  const places = Number(exponent);
  const digits = whole + fraction;
  if (places < 0) return `${sign}0.${'0'.repeat(-places - 1)}${digits}`;
  return `${sign}${digits.padEnd(places + 1, '0')}`;
}
