/** A token that calls may refer to by its symbol. */
export interface TokenSettings {
  readonly symbol: string;
  readonly address: string;
}

/** A chain that the tools can query. The first chain of a list is the default. */
export interface ChainSettings {
  /** The chain id (EIP-155). */
  readonly id: number;
  /** The display name. */
  readonly name: string;
  /**
   * JSON-RPC endpoints over http or https, at least one. Requests go to the first one and fail over to the others, which
   * are also asked for a transaction that it does not know. The URLs may contain keys and are never shown.
   */
  readonly rpcUrls: readonly string[];
  /** The symbol of the native currency. Default ETH. */
  readonly symbol?: string;
  /** The decimals of the native currency. Default 18. */
  readonly decimals?: number;
  readonly tokens?: readonly TokenSettings[];
  /**
   * The contract that resolves names (ENSIP-23); null: none. Default: the ENS contract on Ethereum and Sepolia, null on
   * other chains.
   */
  readonly ens?: { readonly universalResolver: string } | null;
  /** A fee that clients add to a batch of transactions, in wei as a decimal string. Default null: none. */
  readonly fee?: { readonly recipient: string; readonly amountWei: string } | null;
}

/** Settings of the chain tools. */
export interface EvmSettings {
  readonly chains: readonly ChainSettings[];
  /** Timeout of one request to a node, in milliseconds. Default 10 s. */
  readonly rpcTimeoutMs?: number;
  /**
   * Hosts (`host` or `host:port`) that ENS gateways (ERC-3668) may use despite a private address. Default none.
   */
  readonly allowHosts?: readonly string[];
}
