import { untilAborted } from '../../../core/model/abort.js';
import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Clock } from '../../../core/ports/clock.js';
import type { Tool } from '../../../core/ports/tool.js';
import { httpQuotes } from './http-source.js';
import { cachedQuotes } from './quote-cache.js';
import {
  DEFAULT_CURRENCY,
  isPricedBy,
  symbolKey,
  type Answer,
  type Quote,
  type QuoteSource,
} from './quotes.js';
import type { PriceSettings } from './settings.js';

const MAX_SYMBOLS = 50;

/**
 * The tool `get_token_price`: `{symbols, currency?}` →
 * `{text, currency, prices: [{symbol, price, source, updated_at, age_seconds, stale?} | {symbol, error}]}`. On-chain
 * feeds come first; the HTTP source is the fallback. A call fails when a configured source fails and no symbol has a
 * price.
 * @returns no tool when no source is configured
 * @throws Error when a feed is on a chain that is not configured
 */
export function priceTools(
  settings: PriceSettings,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): readonly Tool[] {
  const { feeds, http, chains, cacheSeconds } = settings;
  if (feeds.length === 0 && http === null) return [];
  for (const { symbol, chainId } of feeds) {
    if (chains.some(({ id }) => id === chainId)) continue;
    throw new Error(`The price feed of ${symbol} is on chain ${String(chainId)}, which is not configured.`);
  }
  const known = [
    ...new Set([...feeds.map(({ symbol }) => symbol), ...Object.keys(http?.ids ?? {})].map(symbolKey)),
  ];
  const quotes = cachedQuotes(combinedSource(settings), cacheSeconds * 1000, () => clock.monotonic());

  return [
    {
      name: 'get_token_price',
      description: `Returns the current prices of tokens. Known symbols: ${known.join(', ')}.`,
      parameters: {
        type: 'object',
        properties: {
          symbols: {
            type: 'array',
            description: 'The symbols, such as ["ETH", "BTC"].',
            items: { type: 'string', minLength: 1, maxLength: 32 },
            minItems: 1,
            maxItems: MAX_SYMBOLS,
          },
          currency: { type: 'string', description: 'The currency, such as eur. Absent: usd.', maxLength: 10 },
        },
        required: ['symbols'],
        additionalProperties: false,
      },
      sideEffects: 'none',
      timeoutMs: null,
      async run(args, { signal }) {
        const symbols = symbolsOf(args.symbols);
        const currency = currencyOf(args.currency, http?.vsCurrency ?? DEFAULT_CURRENCY);
        const answers = await untilAborted(quotes(symbols, currency), signal);
        return describe(answers, currency, known, Math.floor(clock.now() / 1000));
      },
    },
  ];
}

/** Reads the feeds first, then sends one HTTP request for all symbols that still have no quote. */
function combinedSource({ http, ...settings }: PriceSettings): QuoteSource {
  const fromHttp = http === null ? null : httpQuotes(http);
  let opening: Promise<QuoteSource> | undefined;

  return async (symbols, currency) => {
    const priced = symbols.filter((symbol) =>
      settings.feeds.some((feed) => isPricedBy(feed, symbol, currency)),
    );
    const answers = new Map<string, Answer>();
    if (priced.length > 0) {
      opening ??= openFeeds(settings);
      for (const [symbol, answer] of await (await opening)(priced, currency)) answers.set(symbol, answer);
    }
    const rest = symbols.filter((symbol) => answers.get(symbol)?.kind !== 'quote');
    const others = rest.length === 0 ? undefined : await fromHttp?.(rest, currency);
    for (const symbol of rest) {
      const other = others?.get(symbol) ?? unknownIn(symbol, currency);
      // When the HTTP source does not know the symbol, keep the feed's failure as the reason.
      if (other.kind !== 'unknown' || !answers.has(symbol)) answers.set(symbol, other);
    }
    return answers;
  };
}

function unknownIn(symbol: string, currency: string): Answer {
  return {
    kind: 'unknown',
    words: `No price source is configured for ${symbol} in ${currency.toUpperCase()}.`,
  };
}

/** Called on first use, because the client library is large. */
async function openFeeds(settings: Omit<PriceSettings, 'http'>): Promise<QuoteSource> {
  return (await import('./feed-source.js')).feedQuotes(settings);
}

function symbolsOf(given: JsonValue | undefined): readonly string[] {
  const texts = given instanceof Array ? given.filter((symbol) => typeof symbol === 'string') : [];
  const symbols = [...new Set(texts.map(symbolKey))].filter((symbol) => symbol !== '');
  if (symbols.length > 0 && symbols.length <= MAX_SYMBOLS) return symbols;
  throw new Error(`symbols: must be 1 to ${String(MAX_SYMBOLS)} symbols such as "ETH".`);
}

function currencyOf(given: JsonValue | undefined, fallback: string): string {
  const currency = (typeof given === 'string' && given.trim() !== '' ? given.trim() : fallback).toLowerCase();
  if (/^[a-z]{2,10}$/.test(currency)) return currency;
  throw new Error('currency: must be a code such as usd.');
}

/** @throws Error when a configured source failed and no symbol has a price */
function describe(
  answers: ReadonlyMap<string, Answer>,
  currency: string,
  known: readonly string[],
  now: number,
): JsonObject {
  const all = [...answers.values()];
  const failure = all.find(({ kind }) => kind === 'failed');
  if (failure?.kind === 'failed' && !all.some(({ kind }) => kind === 'quote')) {
    throw new Error(`No price source answered. ${failure.words}`);
  }
  const entries = [...answers];
  return {
    text: entries.map(([symbol, answer]) => inWords(symbol, answer, currency, now)).join(' '),
    currency,
    prices: entries.map(([symbol, answer]) => shown(symbol, answer, known, now)),
  };
}

function inWords(symbol: string, answer: Answer, currency: string, now: number): string {
  if (answer.kind !== 'quote') return answer.words;
  const old = isStale(answer, now) === true ? ' (an old price)' : '';
  return `${symbol} is ${answer.price} ${currency.toUpperCase()}${old}.`;
}

function shown(symbol: string, answer: Answer, known: readonly string[], now: number): JsonObject {
  if (answer.kind !== 'quote') {
    const { kind, words } = answer;
    return { symbol, error: kind === 'unknown' ? `${words} Known symbols: ${known.join(', ')}.` : words };
  }
  const { price, source, updatedAt } = answer;
  const stale = isStale(answer, now);
  return {
    symbol,
    price,
    source,
    updated_at: updatedAt === null ? null : new Date(updatedAt * 1000).toISOString(),
    age_seconds: ageOf(answer, now),
    ...(stale !== null && { stale }),
  };
}

/** The age in seconds; null: unknown. */
function ageOf({ updatedAt }: Quote, now: number): number | null {
  return updatedAt === null ? null : Math.max(0, now - updatedAt);
}

/** Null when the source gives no guarantee. */
function isStale(quote: Quote, now: number): boolean | null {
  return quote.heartbeatSeconds === null ? null : (ageOf(quote, now) ?? 0) > quote.heartbeatSeconds;
}
