import { getAddress, parseAbi } from 'viem';
import { formatContractUnits } from '../evm/abi/integers.js';
import { ChainError } from '../evm/chain-error.js';
import { openClient } from '../evm/rpc/client.js';
import { createEndpoints } from '../evm/rpc/endpoints.js';
import { asChainError } from '../evm/rpc/faults.js';
import { isPricedBy, type Answer, type QuoteSource } from './quotes.js';
import type { FeedSettings, PriceSettings } from './settings.js';

const DEFAULT_HEARTBEAT_SECONDS = 3_600;
/** The latest time that a `Date` can represent, in seconds. */
const LAST_SECOND = 8_640_000_000_000n;
const AGGREGATOR = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
]);

/**
 * Reads quotes from on-chain price feeds: all symbols in parallel, the feeds of one symbol in order until one succeeds.
 */
export function feedQuotes(settings: Pick<PriceSettings, 'chains' | 'feeds' | 'rpcTimeoutMs'>): QuoteSource {
  const endpoints = createEndpoints(settings.rpcTimeoutMs);
  const neverEnds = new AbortController().signal; // callers share quotes, so none may abort them

  return async (symbols, currency) =>
    new Map(
      await Promise.all(symbols.map(async (symbol) => [symbol, await firstOf(symbol, currency)] as const)),
    );

  async function firstOf(symbol: string, currency: string): Promise<Answer> {
    let answer: Answer = { kind: 'unknown', words: `No price source is configured for ${symbol}.` };
    for (const feed of settings.feeds.filter((candidate) => isPricedBy(candidate, symbol, currency))) {
      answer = await readFeed(feed);
      if (answer.kind === 'quote') break;
    }
    return answer;
  }

  async function readFeed({ chainId, address, symbol, heartbeatSeconds }: FeedSettings): Promise<Answer> {
    const chain = settings.chains.find(({ id }) => id === chainId);
    if (chain === undefined)
      throw new Error(`The price feed of ${symbol} is on a chain that is not configured`);
    try {
      const client = openClient(chain, endpoints, neverEnds, null);
      const contract = { abi: AGGREGATOR, address: getAddress(address.toLowerCase()) } as const;
      const reads = [
        client.readContract({ ...contract, functionName: 'decimals' }),
        client.readContract({ ...contract, functionName: 'latestRoundData' }),
      ] as const;
      await Promise.allSettled(reads); // when one fails, still wait for the other, so that no request outlives the call
      const [decimals, [, price, , updatedAt]] = await Promise.all(reads);
      if (price <= 0n || updatedAt <= 0n || updatedAt > LAST_SECOND)
        throw new ChainError(`The price feed of ${symbol} has no price.`);
      return {
        kind: 'quote',
        price: formatContractUnits(price, decimals),
        source: 'chainlink',
        updatedAt: Number(updatedAt),
        heartbeatSeconds: heartbeatSeconds ?? DEFAULT_HEARTBEAT_SECONDS,
      };
    } catch (error) {
      return { kind: 'failed', words: asChainError(error, chain, endpoints.timeoutMs).message };
    }
  }
}
