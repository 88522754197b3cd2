import type { Config } from '../config.js';
import type { Chains } from '../core/ports/chains.js';

/** The configured chains for wallet requests. Without any, nothing is loaded, and every request fails. */
export async function createChainAccess({ tools }: Config): Promise<Chains> {
  const { chains, allowHosts } = tools;
  if (chains.length === 0) return NO_CHAINS;
  const { createChains } = await import('../adapters/tools/evm/requests/create-chains.js');
  return createChains({ chains, allowHosts });
}

const refuse = (): Promise<never> => Promise.reject(noChains());

const NO_CHAINS: Chains = {
  list: () => [],
  resolveAddress: refuse,
  encodeCall: refuse,
  simulate: refuse,
  estimateGas: refuse,
  nonceOf: refuse,
  findTransaction: refuse,
  isSignedBy: refuse,
  checkTypedData() {
    throw noChains();
  },
};

function noChains(): Error {
  return new Error('No chain is configured.');
}
