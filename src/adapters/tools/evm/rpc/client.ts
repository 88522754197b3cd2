import { createPublicClient, defineChain, fallback, http, type Hex } from 'viem';
import { decimalsOf, unitOf } from '../chains.js';
import type { Endpoints } from './endpoints.js';
import type { ChainSettings } from '../settings.js';

/** Asks the gateways that a contract names for data (ERC-3668). */
export type GatewayRequest = (asked: {
  readonly data: Hex;
  readonly sender: string;
  readonly urls: readonly string[];
}) => Promise<Hex>;

/** A client of one chain for one tool call. */
export type Client = ReturnType<typeof openClient>;

/**
 * Opens a client: each request goes to the endpoints in their order, once each, and ends with `signal`.
 * @param gateways who asks gateways; null: nobody does, as a contract could name any URL
 */
export function openClient(
  settings: ChainSettings,
  endpoints: Endpoints,
  signal: AbortSignal,
  gateways: GatewayRequest | null,
) {
  const { id, name, rpcUrls } = settings;
  const symbol = unitOf(settings);
  const chain = defineChain({
    id,
    name,
    nativeCurrency: { name: symbol, symbol, decimals: decimalsOf(settings) },
    rpcUrls: { default: { http: rpcUrls } },
  });
  const transports = rpcUrls.map((url) =>
    // Time and size are bounded by the endpoints' own fetch, body included.
    http(url, { fetchFn: endpoints.fetchFor(url, rpcUrls, signal), timeout: 0, maxResponseBodySize: false }),
  );
  return createPublicClient({
    chain,
    transport: fallback(transports, { retryCount: 0 }),
    cacheTime: 0,
    ccipRead: gateways === null ? false : { request: gateways },
  });
}
