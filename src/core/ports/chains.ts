import type { JsonObject, JsonValue } from '../model/json.js';

/** A chain that the operator has configured. */
export interface ChainInfo {
  /** As EIP-155 has it. */
  readonly id: number;
  readonly name: string;
  /** The native currency. */
  readonly symbol: string;
  readonly decimals: number;
  /** The fee that clients add to a batch; null: none. */
  readonly fee: { readonly recipient: string; readonly amountWei: string } | null;
}

/** A call to simulate. */
export interface SimulatedCall {
  /** A lower-case address. */
  readonly to: string;
  /** In wei, as a decimal string. */
  readonly value: string;
  /** `0x` and hex digits. */
  readonly data: string;
}

/** The simulated effect of one call. */
export interface SimulatedStep {
  readonly success: boolean;
  /** The return data in hex, bounded in length; null: not known. */
  readonly result: string | null;
  /** Why it fails, in words of bounded length; null: it succeeds, or the reason is not known. */
  readonly revertReason: string | null;
  /** After refunds, as a decimal string; null: not known. */
  readonly gasUsed: string | null;
}

/** The simulated effect of a batch of calls. */
export interface Simulation {
  /** True when each call saw what the calls before it did (`eth_simulateV1`). */
  readonly stateful: boolean;
  readonly steps: readonly SimulatedStep[];
}

/** A transaction read from the chain. Addresses are in lower case, amounts decimal strings in wei. */
export interface ChainTransaction {
  readonly from: string;
  /** Null: it creates a contract. */
  readonly to: string | null;
  readonly value: string;
  readonly data: string;
  readonly nonce: number;
  /** True if it also changes which contract acts for an account (EIP-7702). */
  readonly delegates: boolean;
  /** Null: the transaction is not mined yet. */
  readonly receipt: {
    readonly succeeded: boolean;
    readonly blockNumber: string;
    readonly gasUsed: string;
  } | null;
}

/** The content of a signature. */
export type SignedPayload =
  | { readonly kind: 'typed_data'; readonly typedData: JsonObject }
  | { readonly kind: 'text'; readonly text: string };

/**
 * Reads from chains, and sends nothing. Every method but `list` rejects with an Error whose message is for the user (no
 * URL, no key, none of a node's own words), or with the reason of `signal` once that has aborted. Responses of a node are
 * bounded before they are decoded.
 */
export interface Chains {
  /** The configured chains; the first is the default. Empty: there are none. */
  list(): readonly ChainInfo[];
  /** The lower-case address for an address, an ENS name, or the symbol of a configured token. */
  resolveAddress(chainId: number, text: string, signal: AbortSignal): Promise<string>;
  /** Encodes a call of a function by its signature, such as `function transfer(address to, uint256 amount)`. */
  encodeCall(
    chainId: number,
    signature: string,
    args: readonly JsonValue[],
    signal: AbortSignal,
  ): Promise<string>;
  /** Simulates calls in order from one sender on top of the latest block. */
  simulate(
    chainId: number,
    from: string,
    calls: readonly SimulatedCall[],
    signal: AbortSignal,
  ): Promise<Simulation>;
  /** The lowest gas limit with which a call succeeds on top of the latest block, as a decimal string. */
  estimateGas(chainId: number, from: string, call: SimulatedCall, signal: AbortSignal): Promise<string>;
  /** How many transactions an address has sent, with those that are not mined yet. */
  nonceOf(chainId: number, address: string, signal: AbortSignal): Promise<number>;
  /** Undefined: the chain does not know the transaction (yet). */
  findTransaction(chainId: number, hash: string, signal: AbortSignal): Promise<ChainTransaction | undefined>;
  /** Whether `address` signed: a key (`ecrecover`), or a contract (ERC-1271, ERC-6492). */
  isSignedBy(
    chainId: number,
    address: string,
    payload: SignedPayload,
    signature: string,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Throws in words for the assistant when typed data is not valid EIP-712, or of another chain than `chainId`. */
  checkTypedData(chainId: number, typedData: JsonObject): void;
}
