import {
  createPublicClient,
  custom,
  defineChain,
  fallback,
  http,
  type CustomTransport,
  type Hex,
  type HttpTransport,
} from 'viem';
import { decimalsOf, unitOf } from '../chains.js';
import type { Endpoints } from './endpoints.js';
import type { ChainSettings } from '../settings.js';

/** Methods that look for a transaction, which a node that is behind does not know. */
const SEARCHES: ReadonlySet<string> = new Set(['eth_getTransactionByHash', 'eth_getTransactionReceipt']);

/** Requests data from the gateways that a contract names (ERC-3668). */
export type GatewayRequest = (asked: {
  readonly data: Hex;
  readonly sender: string;
  readonly urls: readonly string[];
}) => Promise<Hex>;

/** A client of one chain for one tool call. */
export type Client = ReturnType<typeof openClient>;

/**
 * Opens a client. Each request tries the endpoints in order, and is aborted by `signal`.
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
    transport: searching(transports, signal),
    cacheTime: 0,
    ccipRead: gateways === null ? false : { request: gateways },
  });
}

/** Sends a request to the first endpoint that responds. When that one knows no transaction, the others are asked, too. */
function searching(transports: readonly HttpTransport[], signal: AbortSignal): CustomTransport {
  const any = fallback(transports, { retryCount: 0 })({});
  const others = transports.slice(1).map((open) => open({ retryCount: 0 }));
  return custom(
    {
      async request(body: { readonly method: string; readonly params?: unknown }): Promise<unknown> {
        const first = await any.request(body);
        if (first !== null || !SEARCHES.has(body.method)) return first;
        for (const other of others) {
          try {
            const found = await other.request(body);
            if (found !== null) return found;
          } catch {
            signal.throwIfAborted();
          }
        }
        return first;
      },
    },
    { retryCount: 0 },
  );
}
