import { openClient } from './rpc/client.js';
import { createEndpoints } from './rpc/endpoints.js';
import { asChainError } from './rpc/faults.js';
import type { ChainSettings } from './settings.js';

/**
 * Checks that every endpoint of a chain responds and reports the chain's id.
 * @param timeoutMs timeout of one endpoint, in milliseconds
 * @throws Error for the operator, which identifies endpoints by index because their URLs may contain keys
 */
export async function checkChain(chain: ChainSettings, timeoutMs: number): Promise<void> {
  const { id, rpcUrls } = chain;
  const faults = await Promise.all(
    rpcUrls.map(async (url, index) => {
      const fault = await faultOf({ ...chain, rpcUrls: [url] }, timeoutMs);
      const place = rpcUrls.length === 1 ? '' : `rpcUrls[${String(index)}]: `;
      return fault === undefined ? [] : [place + fault];
    }),
  );
  const all = faults.flat();
  if (all.length > 0) throw new Error(all.join(' '));

  async function faultOf(one: ChainSettings, patienceMs: number): Promise<string | undefined> {
    const endpoints = createEndpoints(patienceMs);
    try {
      const found = await openClient(one, endpoints, new AbortController().signal, null).getChainId();
      return found === id ? undefined : `The node serves chain ${String(found)}, not ${String(id)}.`;
    } catch (error) {
      return asChainError(error, one, patienceMs).message;
    }
  }
}
