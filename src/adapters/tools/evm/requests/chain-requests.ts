import type { JsonValue } from '../../../../core/model/json.js';
import type {
  ChainTransaction,
  SignedPayload,
  SimulatedCall,
  Simulation,
} from '../../../../core/ports/chains.js';
import { encodeCall } from '../abi/functions.js';
import { parseFunction } from '../abi/signatures.js';
import { contractOf } from '../lookups/addresses.js';
import { readAddress, readCount } from '../rpc/response-fields.js';
import { createReader } from '../scope.js';
import type { ChainSettings, EvmSettings } from '../settings.js';
import { verifyPayload } from './payload-signatures.js';
import { prepareCall, wireCall } from './simulated-steps.js';
import { createSimulator } from './simulations.js';
import { findTransaction } from './transaction-search.js';

/** The requests that the Chains port consists of, each to one configured chain. */
export function openChainRequests(settings: EvmSettings) {
  const read = createReader(settings);
  const simulate = createSimulator();

  return {
    resolveAddress: (chain: ChainSettings, text: string, signal: AbortSignal): Promise<string> =>
      read(chain, signal, async (scope) => (await contractOf(scope, text)).address.toLowerCase()),

    encodeCall: (
      chain: ChainSettings,
      signature: string,
      args: readonly JsonValue[],
      signal: AbortSignal,
    ): Promise<string> => read(chain, signal, (scope) => encodeCall(scope, parseFunction(signature), args)),

    simulate: (
      chain: ChainSettings,
      from: string,
      calls: readonly SimulatedCall[],
      signal: AbortSignal,
    ): Promise<Simulation> => read(chain, signal, (scope) => simulate(scope, from, calls)),

    estimateGas: (
      chain: ChainSettings,
      from: string,
      call: SimulatedCall,
      signal: AbortSignal,
    ): Promise<string> =>
      read(chain, signal, async ({ client }) => {
        const gas: unknown = await client.request({
          method: 'eth_estimateGas',
          params: [wireCall(prepareCall(from, call)), 'latest'],
        });
        return String(readCount(gas));
      }),

    nonceOf: (chain: ChainSettings, address: string, signal: AbortSignal): Promise<number> =>
      read(chain, signal, async ({ client }) => {
        const count: unknown = await client.request({
          method: 'eth_getTransactionCount',
          params: [readAddress(address), 'pending'],
        });
        return readCount(count);
      }),

    findTransaction: (
      chain: ChainSettings,
      hash: string,
      signal: AbortSignal,
    ): Promise<ChainTransaction | undefined> => read(chain, signal, (scope) => findTransaction(scope, hash)),

    isSignedBy: (
      chain: ChainSettings,
      address: string,
      payload: SignedPayload,
      signature: string,
      signal: AbortSignal,
    ): Promise<boolean> =>
      read(chain, signal, ({ client }) => verifyPayload(client, readAddress(address), payload, signature)),
  };
}
