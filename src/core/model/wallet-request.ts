import type { JsonObject } from './json.js';

/**
 * A wallet request: the assistant prepares a transaction or a message, the person's own wallet signs it, and the
 * assistant continues with the outcome. A request is a row. Its id is unique in its session and never reused, not even
 * after the session was deleted and created again.
 */

/** A transaction to sign, exactly as it was simulated. */
export interface TransactionPayload {
  readonly kind: 'transaction';
  /** A lower-case address. Contracts are not created. */
  readonly to: string;
  /** In wei, as a decimal string. */
  readonly value: string;
  /** `0x` and hex digits; `0x` for a plain transfer. */
  readonly data: string;
  /** A gas limit that sufficed at the staging, as a decimal string; null: not known. A wallet may choose its own. */
  readonly gas: string | null;
  /** The next nonce of the sender when it was simulated: a transaction with a lower one is older than the request. */
  readonly nonce: number;
  /** Ids of staged transactions that must be requested before this one. */
  readonly after: readonly number[];
}

/** A message to sign: EIP-712 typed data, or text (EIP-191). */
export interface SignaturePayload {
  readonly kind: 'signature';
  readonly typedData: JsonObject | null;
  /** Set when `typedData` is null. */
  readonly text: string | null;
}

/** The content that a wallet signs. */
export type WalletPayload = TransactionPayload | SignaturePayload;

/**
 * The life of a request: `staged` (transactions only: simulated, not shown to the wallet) → `pending` (the wallet is
 * asked) → `reported` (the wallet claims an outcome, which the service verifies) → a terminal state. `rejected`: the
 * wallet did not sign. `expired`: nobody reported an outcome in time. `not_found` is terminal until a later look finds
 * what was reported.
 */
export type WalletRequestState = 'staged' | 'pending' | 'reported' | 'expired' | 'rejected' | WalletVerdict;

/** The result of verifying a wallet's claim. */
export type WalletVerdict = 'confirmed' | 'failed' | 'differs' | 'not_found';

/** The verdicts in the words that the assistant reads. */
export const VERDICT_WORDS = {
  confirmed: 'confirmed',
  failed: 'failed on chain',
  differs: 'differs from what was staged',
  not_found: 'reported, not found yet',
} as const satisfies Record<WalletVerdict, string>;

/**
 * How long after its expiry a request is looked for that was reported and not found, in milliseconds. Bounded, because
 * the store forgets in the end which transactions have confirmed requests of deleted sessions.
 */
export const LOOKED_FOR_MS = 86_400_000;

/** The outcome that a wallet reported. It is a claim until the service has verified it. */
export interface WalletClaim {
  readonly status: 'success' | 'failed';
  /** The hash of a transaction or a signature, in lower-case hex; null: none was reported. */
  readonly proof: string | null;
  /** The wallet's words on why it failed, bounded in length; null: none. */
  readonly error: string | null;
}

/** A verified claim. */
export interface WalletVerification {
  readonly verdict: WalletVerdict;
  /** Why, in words for the assistant: what differs, or which block confirmed it. */
  readonly detail: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A request as it is stored. */
export interface WalletRequest {
  readonly id: number;
  readonly sessionId: string;
  /** The tool call that made it: the same call never makes a second one. */
  readonly callId: string;
  readonly app: string;
  /** The lower-case address that has to sign. */
  readonly wallet: string;
  readonly chainId: number;
  readonly label: string;
  readonly payload: WalletPayload;
  /** False: the simulation failed, so that it cannot be requested. Always true for signatures. */
  readonly isSound: boolean;
  readonly state: WalletRequestState;
  /** Times are in milliseconds since the epoch; null: not yet. */
  readonly stagedAt: number;
  readonly requestedAt: number | null;
  /** A staged or pending request ends as `expired` at this time. */
  readonly expiresAt: number;
  readonly claim: WalletClaim | null;
  readonly verification: WalletVerification | null;
  /** The turn in which the assistant learns the outcome; null: none was reported. */
  readonly turnId: string | null;
}

/** The part of a pending request that snapshots show. */
export type PendingRequest = Pick<
  WalletRequest,
  'id' | 'app' | 'wallet' | 'chainId' | 'label' | 'payload' | 'expiresAt'
>;

/**
 * Bounds of a session: how many requests are staged or pending, the bytes of one payload as JSON, and the bytes of all
 * pending ones.
 */
export const WALLET_BOUNDS = { open: 50, payloadBytes: 65_536, pendingBytes: 262_144 } as const;

/** Which transactions an App may stage and request. Null fields do not restrict. */
export interface WalletPolicy {
  readonly chains: readonly number[] | null;
  /** Lower-case addresses. Applies to the receiver, and to that, or the spender, of a transfer or approval of tokens. */
  readonly recipients: readonly string[] | null;
  /** The most native currency of one transaction, as a decimal string in units of the currency (`0.5`). */
  readonly maxValue: string | null;
  /** The most native currency that one wallet may be asked for on one chain in one day (UTC). */
  readonly maxDailyValue: string | null;
}

/** True for a reported outcome that no look has found yet, and that another one may find. */
export function isLookedFor(
  { state, claim, expiresAt }: Pick<WalletRequest, 'state' | 'claim' | 'expiresAt'>,
  now: number,
): boolean {
  const isOpen = state === 'reported' || state === 'not_found';
  return isOpen && claim?.proof != null && now < expiresAt + LOOKED_FOR_MS;
}
