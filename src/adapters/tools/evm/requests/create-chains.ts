import type { ChainInfo, Chains } from '../../../../core/ports/chains.js';
import { chooseChain, decimalsOf, unitOf } from '../chains.js';
import type { ChainSettings, EvmSettings } from '../settings.js';
import { checkTypedData } from './typed-data.js';

/**
 * Reads chains for wallet requests. Loads the client library with the first request to a node. Every method but `list`
 * fails with a ChainError whose message is for the user, or with the reason of the signal once that has aborted.
 */
export function createChains(settings: EvmSettings): Chains {
  const { chains } = settings;
  const infos = chains.map(infoOf);
  let opening: ReturnType<typeof open> | undefined;
  const requests = () => (opening ??= open(settings));
  const chainOf = (id: number): ChainSettings => chooseChain(chains, id, null);

  return {
    list: () => infos,
    resolveAddress: async (id, text, signal) => {
      const chain = chainOf(id);
      return (await requests()).resolveAddress(chain, text, signal);
    },
    encodeCall: async (id, signature, args, signal) => {
      const chain = chainOf(id);
      return (await requests()).encodeCall(chain, signature, args, signal);
    },
    simulate: async (id, from, calls, signal) => {
      const chain = chainOf(id);
      return (await requests()).simulate(chain, from, calls, signal);
    },
    estimateGas: async (id, from, call, signal) => {
      const chain = chainOf(id);
      return (await requests()).estimateGas(chain, from, call, signal);
    },
    nonceOf: async (id, address, signal) => {
      const chain = chainOf(id);
      return (await requests()).nonceOf(chain, address, signal);
    },
    findTransaction: async (id, hash, signal) => {
      const chain = chainOf(id);
      return (await requests()).findTransaction(chain, hash, signal);
    },
    isSignedBy: async (id, address, payload, signature, signal) => {
      const chain = chainOf(id);
      return (await requests()).isSignedBy(chain, address, payload, signature, signal);
    },
    checkTypedData(id, typedData) {
      checkTypedData(chainOf(id).id, typedData);
    },
  };
}

function infoOf(chain: ChainSettings): ChainInfo {
  const { id, name, fee = null } = chain;
  return {
    id,
    name,
    symbol: unitOf(chain),
    decimals: decimalsOf(chain),
    fee: fee === null ? null : { recipient: fee.recipient.toLowerCase(), amountWei: fee.amountWei },
  };
}

async function open(settings: EvmSettings) {
  return (await import('./chain-requests.js')).openChainRequests(settings);
}
