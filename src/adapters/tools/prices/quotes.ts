import type { FeedSettings } from './settings.js';

/** The currency of feeds and calls that name none. */
export const DEFAULT_CURRENCY = 'usd';

/** A price from a source. */
export interface Quote {
  readonly kind: 'quote';
  /** A plain decimal number. */
  readonly price: string;
  readonly source: 'chainlink' | 'http';
  /** When the source updated it, in seconds since the epoch; null: unknown. */
  readonly updatedAt: number | null;
  /** The age from which it is stale, in seconds; null: the source gives no guarantee. */
  readonly heartbeatSeconds: number | null;
}

/** No price, with the reason. `unknown`: no source is configured for the symbol; `failed`: the source returned none. */
export interface NoQuote {
  readonly kind: 'unknown' | 'failed';
  readonly words: string;
}

/** The outcome for one symbol. */
export type Answer = Quote | NoQuote;

/** Fetches quotes for several symbols. Reports failures of a source in the answers. */
export type QuoteSource = (
  symbols: readonly string[],
  currency: string,
) => Promise<ReadonlyMap<string, Answer>>;

/** Normalizes a symbol for comparison: upper case, without a leading dollar sign. */
export function symbolKey(symbol: string): string {
  return symbol.trim().replace(/^\$/, '').toUpperCase();
}

/** True when the feed quotes the symbol in the currency. */
export function isPricedBy({ symbol, currency }: FeedSettings, wanted: string, inCurrency: string): boolean {
  return symbolKey(symbol) === wanted && (currency ?? DEFAULT_CURRENCY).toLowerCase() === inCurrency;
}

/** Formats a number without an exponent: 1.2e-7 becomes 0.00000012. */
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
