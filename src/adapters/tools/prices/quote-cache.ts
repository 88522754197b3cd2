import type { Answer, QuoteSource } from './quotes.js';

interface Entry {
  readonly answer: Promise<Answer>;
  /** On the clock of `now`; Infinity while the request is in flight. */
  expires: number;
}

/**
 * Caches quotes, and shares one request among concurrent callers. Failures are not cached.
 * @param keepMs time to live of a quote, in milliseconds
 * @param now a monotonic clock, in milliseconds
 */
export function cachedQuotes(source: QuoteSource, keepMs: number, now: () => number): QuoteSource {
  const entries = new Map<string, Entry>();

  return async (symbols, currency) => {
    for (const [key, { expires }] of entries) if (expires <= now()) entries.delete(key);
    const missing = symbols.filter((symbol) => !entries.has(keyOf(symbol)));
    if (missing.length > 0) ask(missing);
    const answers = await Promise.all(
      symbols.map(async (symbol) => [symbol, await entries.get(keyOf(symbol))?.answer] as const),
    );
    return new Map(answers.map(([symbol, answer]) => [symbol, answer ?? NOTHING]));

    function ask(wanted: readonly string[]): void {
      const batch = source(wanted, currency);
      for (const symbol of wanted) {
        const entry: Entry = {
          answer: batch.then((answers) => answers.get(symbol) ?? NOTHING),
          expires: Infinity,
        };
        entries.set(keyOf(symbol), entry);
        entry.answer.then(
          ({ kind }) => {
            if (kind === 'quote') entry.expires = now() + keepMs;
            else entries.delete(keyOf(symbol));
          },
          () => entries.delete(keyOf(symbol)),
        );
      }
    }

    function keyOf(symbol: string): string {
      return `${currency} ${symbol}`;
    }
  };
}

const NOTHING: Answer = { kind: 'failed', words: 'The price source returned nothing.' };
