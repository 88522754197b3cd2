import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { ToolContext } from '../../../core/ports/tool.js';
import { openClient, type Client } from './rpc/client.js';
import { createEndpoints } from './rpc/endpoints.js';
import { asChainError } from './rpc/faults.js';
import { createGateways } from './rpc/gateways.js';
import type { ChainSettings, EvmSettings } from './settings.js';

/** The context of one tool call. */
export interface Scope {
  /** The chain of the call. */
  readonly chain: ChainSettings;
  readonly client: Client;
  readonly context: ToolContext;
  readonly chains: readonly ChainSettings[];
  /** Opens a client of a chain that follows offchain lookups (ERC-3668). */
  openForNames(chain: ChainSettings): Client;
}

/** The implementation of a tool. */
export type Action = (args: JsonObject, scope: Scope) => Promise<JsonValue>;

/**
 * Runs an action for one call.
 * @throws ChainError for every failure, or the signal's reason once it has aborted
 */
export type Runner = (
  action: Action,
  args: JsonObject,
  chain: ChainSettings,
  context: ToolContext,
) => Promise<JsonValue>;

/** Creates the state that all calls share: which endpoints failed recently, and the connections to gateways. */
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
