import type { Commit } from '../model/event.js';
import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { ClaimedTurn, Lease, Turn, TurnClaim } from '../model/turn.js';
import type {
  WalletClaim,
  WalletRequest,
  WalletRequestState,
  WalletVerification,
} from '../model/wallet-request.js';

/** A transaction or a message to store as `staged`. It gets the next id of its session. */
export type NewWalletRequest = Omit<
  WalletRequest,
  'id' | 'state' | 'requestedAt' | 'claim' | 'verification' | 'turnId'
>;

/** The outcome of staging. `exists`: the same call has stored it before. */
export type StagedRequest =
  | { readonly kind: 'staged' | 'exists'; readonly request: WalletRequest }
  /** A bound of `WALLET_BOUNDS` is reached. */
  | { readonly kind: 'full' }
  /** The session is not stored. */
  | { readonly kind: 'missing' };

/** A demand to request staged transactions or messages from the wallet: all of them, or none. */
export interface WalletAsk {
  readonly sessionId: string;
  /** In the order in which the wallet should sign. */
  readonly ids: readonly number[];
  /** The system event for the client, as the JSON text of its `InlineCall`. Logged once. */
  readonly event: string;
  /**
   * Limits of what one wallet is asked for in one App on one chain since `since`: the most in wei, as decimal strings,
   * by chain id. Rejected requests do not count. Null, or a chain that is absent: no limit.
   */
  readonly daily: { readonly since: number; readonly most: Readonly<Record<string, string>> } | null;
  /** When the requests expire, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The attempt at a turn that asks; null: a client does. */
  readonly by: TurnClaim | null;
  readonly at: number;
}

/** The outcome of asking a wallet. Only `requested` has written something. */
export type AskedWallet =
  | {
      readonly kind: 'requested';
      readonly requests: readonly WalletRequest[];
      readonly session: Session;
      readonly commit: Commit;
    }
  /** All of them are pending already: the request was repeated. */
  | { readonly kind: 'unchanged'; readonly requests: readonly WalletRequest[] }
  /** The turn that asked was interrupted, or another process has claimed it. */
  | { readonly kind: 'left' }
  | {
      readonly kind: 'refused';
      readonly id: number;
      /** `pending`: the others are not. `settled`: it has an outcome. */
      readonly reason: 'unknown' | 'unsound' | 'expired' | 'pending' | 'settled' | 'full';
    }
  /** The requests would exceed the day's limit; `used` is what was requested before, in wei. */
  | { readonly kind: 'over_daily'; readonly chainId: number; readonly used: string };

/** An outcome that a wallet reported, and the turn in which the assistant learns it. */
export interface WalletReport {
  readonly sessionId: string;
  /** All of them must be pending, else nothing is written. */
  readonly ids: readonly number[];
  /** `rejected` when the wallet did not sign, else `reported`. */
  readonly state: 'reported' | 'rejected';
  readonly claim: WalletClaim;
  readonly turnId: string;
  readonly messageId: string;
  /** The words of the `system` message that begins the turn. */
  readonly text: string;
  /** The turn also gets the key of the session's last turn in this App that has one. */
  readonly app: string;
  /** Null: the turn belongs to the client of the session's last turn that has one. */
  readonly clientId: string | null;
  /** Given: when no turn runs, the new one is claimed in the same step. */
  readonly claimTurn: Lease | null;
  readonly at: number;
}

/** The outcome of a report. `stale`: one of the requests is no longer pending; nothing was written. */
export type ReportedOutcome =
  | {
      readonly kind: 'accepted';
      readonly session: Session;
      readonly turn: Turn;
      readonly message: Message;
      readonly claimed: ClaimedTurn | null;
      readonly commit: Commit;
    }
  | { readonly kind: 'stale' };

/** A `system` message without a turn of its own: it is stored with a turn that has ended. */
export interface Note {
  readonly sessionId: string;
  readonly text: string;
  readonly messageId: string;
  readonly turnId: string;
  readonly app: string;
  /** As in `Acceptance`. */
  readonly maxSessionBytes: number;
  readonly at: number;
}

/** The outcome of a note. A session that is not stored is created. `full`: as in `Accepted`. */
export type StoredNote =
  | {
      readonly kind: 'noted';
      readonly session: Session;
      readonly created: boolean;
      readonly turn: Turn;
      readonly message: Message;
      readonly commit: Commit;
    }
  | { readonly kind: 'full'; readonly bytes: number };

/** What replaces the verdict `confirmed` when the transaction has confirmed another request. */
export const SETTLED_ANOTHER = {
  verdict: 'differs',
  detail: 'the transaction has already confirmed another request',
} as const satisfies Omit<WalletVerification, 'at'>;

/** Wallet requests of sessions. `Session.pending` always holds the pending ones, in order of their ids. */
export interface WalletStore {
  /** Stores a request as `staged` unless its call has stored one. No revision is counted: no snapshot shows it. */
  stageWalletRequest(request: NewWalletRequest): Promise<StagedRequest>;
  /** Makes staged requests pending, adds them to `Session.pending`, and logs the system event, in one step. */
  requestWallet(ask: WalletAsk): Promise<AskedWallet>;
  /** Stores what a wallet reported, removes the requests from `Session.pending`, and queues the turn, in one step. */
  reportWalletOutcome(report: WalletReport): Promise<ReportedOutcome>;
  /**
   * Stores the verification of a `reported` request of this turn. The first one holds, except that another verdict
   * replaces `not_found`. Returns the request as it is then; undefined: there is no such request of this turn. A
   * transaction confirms one request: when it has confirmed another one, the verdict is stored as `SETTLED_ANOTHER`.
   */
  verifyWalletRequest(
    sessionId: string,
    id: number,
    turnId: string,
    verification: WalletVerification,
  ): Promise<WalletRequest | undefined>;
  /** Reads requests of a session in order of their ids: of a turn, or with these ids, or the last `limit` ones. */
  readWalletRequests(
    sessionId: string,
    which:
      | { readonly turnId: string }
      | { readonly ids: readonly number[] }
      | { readonly limit: number; readonly states?: readonly WalletRequestState[] },
  ): Promise<WalletRequest[]>;
  /**
   * How much one wallet was asked for in an App on a chain since then, in wei. Rejected requests do not count; those of
   * deleted sessions do, until `transactionsBefore` of `Prune`.
   */
  walletValueSince(use: {
    readonly app: string;
    readonly wallet: string;
    readonly chainId: number;
    readonly since: number;
  }): Promise<string>;
  /**
   * Finds another request that this transaction was reported for and that it was confirmed for, in any session: one
   * transaction settles one request. Sessions that were deleted count until `transactionsBefore` of `Prune`.
   */
  findSettledBy(chainId: number, hash: string): Promise<Pick<WalletRequest, 'sessionId' | 'id'> | undefined>;
  /** Expires at most `limit` staged and pending requests whose time is over. Returns the sessions that changed. */
  expireWalletRequests(
    now: number,
    limit: number,
  ): Promise<readonly { readonly sessionId: string; readonly commit: Commit | null }[]>;
  /** Stores a `system` message that starts no turn. */
  addNote(note: Note): Promise<StoredNote>;
}
