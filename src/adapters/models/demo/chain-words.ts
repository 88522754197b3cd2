/** Extracts blockchain terms from a message, in the form that tool arguments take. */

const ADDRESS = /\b0x[0-9a-f]{40}\b/i;
const HASH = /\b0x[0-9a-f]{64}\b/i;
const ENS_NAME = /\b[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.eth\b/iu;
const CHAINS: ReadonlyMap<string, number> = new Map([
  ['mainnet', 1],
  ['ethereum', 1],
  ['optimism', 10],
  ['bsc', 56],
  ['gnosis', 100],
  ['polygon', 137],
  ['base', 8453],
  ['arbitrum', 42161],
  ['avalanche', 43114],
  ['sepolia', 11155111],
]);
const CHAIN =
  /\b(?:chain|network)\s+(?:id\s+)?(?<named>\d+|[a-z]+)\b|\bon\s+(?:the\s+)?(?!chain\b|network\b)(?<on>[a-z]+)\b/i;
const COINS: ReadonlyMap<string, string> = new Map([
  ...['BTC', 'ETH', 'SOL', 'USDC', 'USDT', 'DAI', 'DOGE', 'BNB', 'XRP', 'MATIC'].map(
    (ticker) => [ticker.toLowerCase(), ticker] as const,
  ),
  ['bitcoin', 'BTC'],
  ['ethereum', 'ETH'],
  ['ether', 'ETH'],
  ['solana', 'SOL'],
  ['dogecoin', 'DOGE'],
  ['tether', 'USDT'],
  ['chainlink', 'LINK'],
  ['litecoin', 'LTC'],
  ['cardano', 'ADA'],
  ['ripple', 'XRP'],
]);
const PRICED =
  /\b(?:prices?|worth|value|cost)\b\s+(?:of|for|in)\s+(?<list>[a-z0-9$][a-z0-9$, &]*?)(?=\s*(?:[?!;:.]|$|\b(?:right|now|please|today|currently|in|on)\b|\band\s+(?:what|how|tell|calculate|count)\b))/i;
const TICKERS = /\b[A-Z][A-Z0-9]{1,5}\b/g;
const NOT_COINS = new Set(['USD', 'EUR', 'UTC', 'GMT', 'ENS', 'JSON', 'IS', 'WHAT', 'THE', 'OF', 'AND']);
const FILLING = new Set([
  'a',
  'an',
  'the',
  'one',
  'some',
  'and',
  'token',
  'tokens',
  'coin',
  'coins',
  'price',
  'current',
]);

/** The first address or ENS name in a text. */
export function addressIn(text: string): string | undefined {
  return ADDRESS.exec(text)?.[0] ?? ENS_NAME.exec(text)?.[0];
}

/** The first ENS name in a text. */
export function ensNameIn(text: string): string | undefined {
  return ENS_NAME.exec(text)?.[0];
}

/** The first transaction hash in a text. */
export function hashIn(text: string): string | undefined {
  return HASH.exec(text)?.[0];
}

/** The chain after "on", by name or number, as an id or as a name. */
export function chainIn(text: string, as: 'id' | 'name'): number | string | undefined {
  const { named, on } = CHAIN.exec(text)?.groups ?? {};
  const said = (named ?? on)?.toLowerCase();
  if (said === undefined) return undefined;
  if (/^\d+$/.test(said)) return as === 'id' ? Number(said) : said;
  const id = CHAINS.get(said);
  return as === 'id' || id === undefined ? id : said;
}

/** A block's number, or `latest`. */
export function blockIn(text: string): number | 'latest' | undefined {
  const digits = /\bblock\s*(?:number|no\.?|#)?\s*#?(?<digits>\d+)\b/i.exec(text)?.groups?.digits;
  if (digits !== undefined) return Number(digits);
  return /\b(?:latest|newest|last|current)\b/i.test(text) ? 'latest' : undefined;
}

/** The coins whose price a message requests, as tickers. */
export function coinsIn(text: string): string[] {
  const list = PRICED.exec(text)?.groups?.list?.split(/,|&|\band\b|\s+/i) ?? [];
  const listed = list
    .map((word) => word.trim().replace(/^\$/, ''))
    .filter((word) => word !== '' && !FILLING.has(word.toLowerCase()));
  const names = [...COINS.keys()].filter((name) => new RegExp(`\\b${name}\\b`, 'i').test(text));
  const tickers = text.match(TICKERS)?.filter((word) => !NOT_COINS.has(word)) ?? [];
  const found = listed.length > 0 ? listed : [...tickers, ...names];
  return [...new Set(found.map((word) => COINS.get(word.toLowerCase()) ?? word.toUpperCase()))];
}
