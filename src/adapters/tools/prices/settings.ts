import type { ChainSettings } from '../evm/settings.js';

/** A price feed with Chainlink's interface (AggregatorV3Interface). */
export interface FeedSettings {
  /** What is priced, such as ETH. Several feeds may price the same: the first that answers counts. */
  readonly symbol: string;
  /** What it is priced in. Default usd. */
  readonly currency?: string;
  /** A chain of the list of chains. */
  readonly chainId: number;
  readonly address: string;
  /** How often the feed promises to be updated: an older price is stale. Default 3600. */
  readonly heartbeatSeconds?: number;
}

/** A price source over HTTP that answers as CoinGecko does. The operator names it: it may be in a private network. */
export interface HttpPriceSettings {
  /** Such as `https://api.coingecko.com/api/v3`, to which `/simple/price` is added. Never shown. */
  readonly baseUrl: string;
  readonly apiKey?: string | null;
  /** What the source calls a symbol, such as `{ ETH: 'ethereum' }`. */
  readonly ids: Readonly<Record<string, string>>;
  /** The currency of answers when a call names none. Default usd. */
  readonly vsCurrency?: string;
  /** How long an answer may take, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
}

/** What the tool for prices needs. */
export interface PriceSettings {
  readonly chains: readonly ChainSettings[];
  readonly feeds: readonly FeedSettings[];
  readonly http: HttpPriceSettings | null;
  /** How long a price is kept. */
  readonly cacheSeconds: number;
  /** How long one request to a node may take, in milliseconds. Default 10 s. */
  readonly rpcTimeoutMs?: number;
}
