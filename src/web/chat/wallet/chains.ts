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

/** Returns the name of a chain with its id. */
export function chainName(chainId: number, reported?: string | null): string {
  const name = CHAINS[chainId]?.[0] ?? reported;
  return name === undefined || name === null || name === ''
    ? `chain ${String(chainId)}`
    : `${name} (chain ${String(chainId)})`;
}

/** Returns an amount of a chain's native currency: in its units if the chain is known, otherwise in wei. */
export function nativeAmount(wei: bigint, chainId: number): string {
  const symbol = CHAINS[chainId]?.[1];
  return symbol === undefined ? `${grouped(wei)} wei` : `${inUnits(wei, 18)} ${symbol}`;
}
