import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { ToolContext } from '../../../core/ports/tool.js';
import { openClient, type Client } from './rpc/client.js';
import { createEndpoints } from './rpc/endpoints.js';
import { asChainError } from './rpc/faults.js';
import { createGateways } from './rpc/gateways.js';
import type { ChainSettings, EvmSettings } from './settings.js';

/** The context of one read from a chain. */
export interface ChainScope {
  readonly chain: ChainSettings;
  readonly client: Client;
  readonly chains: readonly ChainSettings[];
  /** Opens a client of a chain that follows offchain lookups (ERC-3668). */
  openForNames(chain: ChainSettings): Client;
}

/** The context of one tool call. */
export interface Scope extends ChainScope {
  readonly context: ToolContext;
}

/** The implementation of a tool. */
export type Action = (args: JsonObject, scope: Scope) => Promise<JsonValue>;

/**
 * Reads from a chain.
 * @throws ChainError for every failure, or the signal's reason once it has aborted
 */
export type Reader = <T>(
  chain: ChainSettings,
  signal: AbortSignal,
  work: (scope: ChainScope) => Promise<T>,
) => Promise<T>;

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

/** Creates the state that all reads share: which endpoints failed recently, and the connections to gateways. */
export function createReader({ chains, rpcTimeoutMs, allowHosts = [] }: EvmSettings): Reader {
  const endpoints = createEndpoints(rpcTimeoutMs);
  const gateways = createGateways(allowHosts);

  return async (chain, signal, work) => {
    signal.throwIfAborted();
    try {
      return await work({
        chain,
        client: openClient(chain, endpoints, signal, null),
        chains,
        openForNames: (other) => openClient(other, endpoints, signal, gateways(signal)),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw asChainError(error, chain, endpoints.timeoutMs);
    }
  };
}

/** Creates a runner, whose calls share the state of one reader. */
export function createRunner(settings: EvmSettings): Runner {
  const read = createReader(settings);
  return (action, args, chain, context) =>
    read(chain, context.signal, (scope) => action(args, { ...scope, context }));
}
