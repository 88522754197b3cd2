import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { ToolContext } from '../../../core/ports/tool.js';
import { openClient, type Client } from './rpc/client.js';
import { createEndpoints } from './rpc/endpoints.js';
import { asChainError } from './rpc/faults.js';
import { createGateways } from './rpc/gateways.js';
import type { ChainSettings, EvmSettings } from './settings.js';

/** What one tool call works with. */
export interface Scope {
  /** The chain that the call is about. */
  readonly chain: ChainSettings;
  readonly client: Client;
  readonly context: ToolContext;
  readonly chains: readonly ChainSettings[];
  /** A client of another chain that follows what contracts say of gateways. */
  openForNames(chain: ChainSettings): Client;
}

/** What a tool does. */
export type Action = (args: JsonObject, scope: Scope) => Promise<JsonValue>;

/**
 * Runs an action for one call. @throws ChainError whatever goes wrong, or the reason of the signal once that has
 * aborted
 */
export type Runner = (
  action: Action,
  args: JsonObject,
  chain: ChainSettings,
  context: ToolContext,
) => Promise<JsonValue>;

/** Makes what all calls share: the memory of endpoints that failed, and the connections to gateways. */
export function createRunner({ chains, rpcTimeoutMs, allowHosts = [] }: EvmSettings): Runner {
  const endpoints = createEndpoints(rpcTimeoutMs);
  const gateways = createGateways(allowHosts);

  return async (action, args, chain, context) => {
    const { signal } = context;
    signal.throwIfAborted();
    try {
      return await action(args, {
        chain,
        client: openClient(chain, endpoints, signal, null),
        context,
        chains,
        openForNames: (other) => openClient(other, endpoints, signal, gateways(signal)),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw asChainError(error, chain, endpoints.timeoutMs);
    }
  };
}
