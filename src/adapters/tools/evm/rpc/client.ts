import { createPublicClient, defineChain, fallback, http, type Hex } from 'viem';
import { decimalsOf, unitOf } from '../chains.js';
import type { Endpoints } from './endpoints.js';
import type { ChainSettings } from '../settings.js';

/** Requests data from the gateways that a contract names (ERC-3668). */
export type GatewayRequest = (asked: {
  readonly data: Hex;
  readonly sender: string;
  readonly urls: readonly string[];
}) => Promise<Hex>;

/** A client of one chain for one tool call. */
export type Client = ReturnType<typeof openClient>;

/**
 * Opens a client. Each request tries every endpoint once, in order, and is aborted by `signal`.
 * @param gateways sends gateway requests; null disables them, since a contract can name any URL
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
    // The endpoints' fetch bounds time and size, including the body.
    http(url, { fetchFn: endpoints.fetchFor(url, rpcUrls, signal), timeout: 0, maxResponseBodySize: false }),
  );
  return createPublicClient({
    chain,
    transport: fallback(transports, { retryCount: 0 }),
    cacheTime: 0,
    ccipRead: gateways === null ? false : { request: gateways },
  });
}
