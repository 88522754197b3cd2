import type { ChainSettings } from '../evm/settings.js';

/** A price feed with Chainlink's interface (AggregatorV3Interface). */
export interface FeedSettings {
  /** The priced asset, such as ETH. If several feeds price the same one, the first that responds is used. */
  readonly symbol: string;
  /** The currency of the price. Default usd. */
  readonly currency?: string;
  /** The id of a configured chain. */
  readonly chainId: number;
  readonly address: string;
  /** The longest interval between updates of the feed, in seconds: an older price is stale. Default 3600. */
  readonly heartbeatSeconds?: number;
}

/** An HTTP price source compatible with CoinGecko. The operator configures it, so it may be in a private network. */
export interface HttpPriceSettings {
  /** Such as `https://api.coingecko.com/api/v3`; `/simple/price` is appended. Never shown to users. */
  readonly baseUrl: string;
  readonly apiKey?: string | null;
  /** Maps symbols to the source's ids, such as `{ ETH: 'ethereum' }`. */
  readonly ids: Readonly<Record<string, string>>;
  /** The currency of calls that name none. Default usd. */
  readonly vsCurrency?: string;
  /** Timeout of a request, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number;
}

/** Settings of the price tool. */
export interface PriceSettings {
  readonly chains: readonly ChainSettings[];
  readonly feeds: readonly FeedSettings[];
  readonly http: HttpPriceSettings | null;
  /** Time to live of a cached price, in seconds. */
  readonly cacheSeconds: number;
  /** Timeout of one request to a node, in milliseconds. Default 10 s. */
  readonly rpcTimeoutMs?: number;
}
