/** A token that may be named by its symbol. */
export interface TokenSettings {
  readonly symbol: string;
  readonly address: string;
}

/** A chain that the tools may ask about. The first one of a list is the default. */
export interface ChainSettings {
  /** As EIP-155 has it. */
  readonly id: number;
  /** For people. */
  readonly name: string;
  /**
   * JSON-RPC over http or https, at least one. The first is asked, the others when it fails. They may hold keys: they
   * are never shown.
   */
  readonly rpcUrls: readonly string[];
  /** The native currency. Default ETH. */
  readonly symbol?: string;
  /** Its decimals. Default 18. */
  readonly decimals?: number;
  readonly tokens?: readonly TokenSettings[];
  /**
   * Where names are resolved (ENSIP-23); null: nowhere. Default: ENS's own contract on Ethereum and Sepolia, elsewhere
   * null.
   */
  readonly ens?: { readonly universalResolver: string } | null;
}

/** What the tools for chains need. */
export interface EvmSettings {
  readonly chains: readonly ChainSettings[];
  /** How long one request to a node may take, in milliseconds. Default 10 s. */
  readonly rpcTimeoutMs?: number;
  /**
   * Hosts (`host` or `host:port`) with private addresses that gateways of ENS names (ERC-3668) may have. Default none.
   */
  readonly allowHosts?: readonly string[];
}
