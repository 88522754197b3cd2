import { quoted } from '../../../client/visible-text.js';
import { grouped, inUnits } from './amounts.js';

/** A chain by name, and the symbol of its native currency, which has 18 decimals on all of these. */
const CHAINS: Readonly<Record<number, readonly [name: string, symbol: string]>> = {
  1: ['Ethereum', 'ETH'],
  10: ['OP Mainnet', 'ETH'],
  56: ['BNB Smart Chain', 'BNB'],
  100: ['Gnosis', 'xDAI'],
  137: ['Polygon', 'POL'],
  8453: ['Base', 'ETH'],
  42161: ['Arbitrum One', 'ETH'],
  43114: ['Avalanche C-Chain', 'AVAX'],
  84532: ['Base Sepolia', 'ETH'],
  11155111: ['Sepolia', 'ETH'],
};

/**
 * Returns the name of a chain with its id.
 * @param reported the name that the service reports, which the page cannot verify
 */
export function chainName(chainId: number, reported?: string | null): string {
  const id = `chain ${String(chainId)}`;
  const known = CHAINS[chainId]?.[0];
  if (known !== undefined) return `${known} (${id})`;
  return reported === undefined || reported === null ? id : `${quoted(reported, 60)} (${id})`;
}

/**
 * Returns an amount of a chain's native currency: in its units if the chain is known, otherwise as reported, or in wei.
 * @param reported the amount with its symbol, if the service sent it
 */
export function nativeAmount(wei: bigint, chainId: number, reported?: string | null): string {
  const symbol = CHAINS[chainId]?.[1];
  return symbol === undefined ? (reported ?? `${grouped(wei)} wei`) : `${inUnits(wei, 18)} ${symbol}`;
}
