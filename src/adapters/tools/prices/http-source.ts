import { isJsonObject } from '../../../core/model/json.js';
import { basicAuthorization } from '../../platform/net/basic-authorization.js';
import { BodyTooLargeError, readBoundedJson } from '../../platform/net/bounded-body.js';
import { plainDecimal, symbolKey, type Answer, type QuoteSource } from './quotes.js';
import type { HttpPriceSettings } from './settings.js';

const DEFAULT_TIMEOUT_MS = 10_000;
/** Bounds of a response, which holds the prices of all requested symbols. */
const BOUNDS = { maxBytes: 256 * 1024, values: 10_000, depth: 8 };
/** The latest time that a `Date` can represent, in seconds. */
const LAST_SECOND = 8_640_000_000_000;

/** The source returned no prices. `message` is safe to show to a user: it contains no URL and no key. */
class SourceError extends Error {
  override readonly name = 'SourceError';
}

/** Reads quotes from a source compatible with CoinGecko's `/simple/price`, with one request for all symbols. */
export function httpQuotes(settings: HttpPriceSettings): QuoteSource {
  const ids = new Map(Object.entries(settings.ids).map(([symbol, id]) => [symbolKey(symbol), id]));

  return async (symbols, currency) => {
    const known = symbols.filter((symbol) => ids.has(symbol));
    const prices = known.length === 0 ? {} : await fetchPrices(known).catch(asSourceError);
    return new Map(symbols.map((symbol) => [symbol, answerFor(symbol, prices, currency)]));

    function fetchPrices(wanted: readonly string[]): Promise<unknown> {
      const unique = new Set(wanted.map((symbol) => ids.get(symbol) ?? ''));
      return askSource(settings, [...unique], currency);
    }
  };

  function answerFor(symbol: string, prices: unknown, currency: string): Answer {
    const id = ids.get(symbol);
    if (id === undefined) return { kind: 'unknown', words: `No price source is configured for ${symbol}.` };
    if (prices instanceof SourceError) return { kind: 'failed', words: prices.message };
    const found = isJsonObject(prices) ? prices[id] : undefined;
    const price = isJsonObject(found) ? found[currency] : undefined;
    // `JSON.parse` turns a number such as 1e400 into Infinity.
    if (!isJsonObject(found) || typeof price !== 'number' || !Number.isFinite(price) || price < 0) {
      return {
        kind: 'failed',
        words: `The price source has no price of ${symbol} in ${currency.toUpperCase()}.`,
      };
    }
    const given = found.last_updated_at;
    const updatedAt = typeof given === 'number' && given > 0 && given < LAST_SECOND ? given : null;
    return { kind: 'quote', price: plainDecimal(price), source: 'http', updatedAt, heartbeatSeconds: null };
  }
}

async function askSource(
  { baseUrl, apiKey, timeoutMs = DEFAULT_TIMEOUT_MS }: HttpPriceSettings,
  ids: readonly string[],
  currency: string,
): Promise<unknown> {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/simple/price`);
  url.searchParams.set('ids', ids.join(','));
  url.searchParams.set('vs_currencies', currency);
  url.searchParams.set('include_last_updated_at', 'true');
  const plan = url.hostname.startsWith('pro-') ? 'pro' : 'demo';
  const key = apiKey === undefined || apiKey === null ? {} : { [`x-cg-${plan}-api-key`]: apiKey };
  const authorization = basicAuthorization(url);
  // `fetch` refuses a URL with credentials.
  url.username = url.password = '';
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new SourceError(`The price source did not answer within ${String(timeoutMs / 1000)} s.`));
  }, timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...key, ...(authorization && { authorization }) },
      redirect: 'error', // a redirect would send the API key to another host
      signal: deadline.signal,
    });
    if (!response.ok) {
      await response.body?.cancel(); // an unread body would keep the connection open
      throw new SourceError(wordsFor(response.status));
    }
    return parsed((await readBoundedJson(response, BOUNDS)).toString());
  } finally {
    clearTimeout(timer);
  }
}

function wordsFor(status: number): string {
  if (status === 429) return 'The price source limits requests. Try again in a moment.';
  if (status === 401 || status === 403) return "The price source refuses this service's key.";
  return `The price source responded with status ${String(status)}.`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SourceError('The price source returned a response that is not JSON.', { cause: error });
  }
}

function asSourceError(error: unknown): SourceError {
  if (error instanceof SourceError) return error;
  if (error instanceof BodyTooLargeError)
    return new SourceError('The price source returned a response that is too large.', { cause: error });
  return new SourceError('The price source cannot be reached.', { cause: error });
}
