/**
 * The store port. Every method is one atomic step, and there is no `transaction(callback)`: a synchronous driver would
 * commit before an async callback had run.
 */
import type { CallStore } from './call-store.js';
import type { BusyStrategy } from '../model/app.js';
import type { Commit, EventBody, LoggedEvent, SystemEvent } from '../model/event.js';
import type { Flight } from '../model/flight.js';
import type { FaultStore } from './fault-store.js';
import type { LeaseStore } from './lease-store.js';
import type { Message } from '../model/message.js';
import type { OverviewStore } from './overview-store.js';
import type { Quota, Use } from '../model/quota.js';
import type { SecretStore } from './secret-store.js';
import type { Session, SessionFields, ThreadSummary } from '../model/session.js';
import type { BranchStore, StoredThread, TailStore, ThreadPart } from './stored-thread.js';
import type { ClaimedTurn, Lease, Turn, TurnOutcome, Usage } from '../model/turn.js';
import type { UsageStore } from './usage-store.js';
import type { WalletStore } from './wallet-store.js';

/** The store is temporarily unavailable (down, locked, full, corrupt). The surfaces respond with status 503. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** The newest revision and event of a session. */
export type SessionHead = Pick<Session, 'revision' | 'lastEventId'>;

/** A write to a session that does not concern its turns. */
export interface SessionChange {
  readonly id: string;
  /** What to do if the session is not stored or was deleted. */
  readonly ifMissing: 'create' | 'refuse';
  /** Write only if the session still has this `version` (0: not stored). Absent: write unconditionally. */
  readonly ifVersion?: number;
  readonly set: SessionFields;
  readonly events: readonly EventBody[];
  /** True if the write counts as activity, which determines the order of lists. */
  readonly isActivity: boolean;
  /** The time of the write, in milliseconds since the epoch. */
  readonly at: number;
}

/** The result of a session write. `stale`: the version differs; `missing`: not stored, with `ifMissing: 'refuse'`. */
export type SavedSession =
  | { readonly kind: 'saved'; readonly session: Session; readonly created: boolean; readonly commit: Commit }
  | { readonly kind: 'stale' }
  | { readonly kind: 'missing' };

/** A message to accept, with everything that the decision depends on. */
export interface Acceptance {
  readonly sessionId: string;
  /** As in `SessionChange`; a missing session is always created. */
  readonly ifVersion: number;
  readonly set: SessionFields;
  readonly text: string;
  readonly messageId: string;
  readonly turnId: string;
  readonly app: string;
  readonly clientId: string | null;
  readonly keyId: string | null;
  /**
   * The quotas that apply. If one is used up, the message is refused with the first such quota. Otherwise the message
   * counts as one turn against the quotas of turns.
   */
  readonly quotas: readonly Quota[];
  /** `fingerprint` identifies the message and the App. A stored key older than `notBefore` is ignored. */
  readonly idempotency: {
    readonly key: string;
    readonly fingerprint: string;
    readonly notBefore: number;
  } | null;
  readonly busy: BusyStrategy;
  /** How many turns may be queued, not counting the running one. */
  readonly maxQueued: number;
  /** The maximum size of the thread including this message, in bytes, see `textBytes`. */
  readonly maxSessionBytes: number;
  /** If given and no turn runs, the new turn is claimed in the same step. */
  readonly claim: Lease | null;
  readonly at: number;
}

/** The result of accepting a message. Only `accepted` has written anything. */
export type Accepted =
  | {
      readonly kind: 'accepted';
      readonly session: Session;
      readonly created: boolean;
      readonly turn: Turn;
      readonly message: Message;
      readonly claimed: ClaimedTurn | null;
      /** With `busy: 'interrupt'`: the turns that were interrupted for this one. */
      readonly interruption: Interruption;
      readonly commit: Commit;
    }
  /** The idempotency key was used for the same message, which started the turn `turnId`. */
  | { readonly kind: 'repeated'; readonly turnId: string }
  | { readonly kind: 'over_quota'; readonly quota: Quota }
  | { readonly kind: 'stale' }
  /** The thread would exceed `maxSessionBytes`; its current size is `bytes`. */
  | { readonly kind: 'full'; readonly bytes: number }
  | { readonly kind: 'busy' }
  | { readonly kind: 'queue_full' }
  | { readonly kind: 'key_reused' };

/** The turns that an interrupt affected. */
export interface Interruption {
  /** The queued turns that were ended, in order. */
  readonly cancelled: readonly Turn[];
  /** The running turn, which is now marked for cancellation. */
  readonly running: Turn | null;
}

/** The progress of a running turn to store. A record replaces a stored one with the same id. */
export interface Progress {
  readonly messages: readonly Message[];
  readonly events: readonly EventBody[];
  /** The text of the unfinished step so far; null: keep the stored checkpoint and its attempt. */
  readonly partialText: string | null;
  /** When the text's first character was shown, in milliseconds since the epoch. Absent: unknown. */
  readonly partialSince?: number;
  /**
   * Present when an earlier attempt to store this progress failed, and may still have been stored: the id of the newest
   * event before that attempt. If a later event equals the first of these, all of this is stored, and is not again.
   */
  readonly repeatsAfter?: number;
}

/** The end of a turn, with everything to store with it. */
export interface TurnEnding {
  readonly outcome: TurnOutcome;
  readonly messages: readonly Message[];
  readonly events: readonly EventBody[];
  /** Why the turn failed, as a message for the user. Stored with the turn and as a `SystemError`. */
  readonly error: string | null;
  /** The id of the rig that responded, if any. */
  readonly rig: string | null;
  /** The tokens of this attempt: reported by the provider, or estimated. The store adds them to earlier attempts'. */
  readonly usage: Usage;
  /** The estimated tokens of the text that this attempt has shown. */
  readonly shownTokens: number;
  /** The uses to count for subjects with a limit. */
  readonly uses: readonly Use[];
  /** If given, the session's next queued turn is claimed in the same step. */
  readonly claimNext: Lease | null;
  readonly at: number;
}

/** The data to delete. Times are in milliseconds since the epoch. */
export interface Prune {
  readonly at: number;
  /** Threads without activity since this time and without an open turn are deleted, thousands at most; null: none. */
  readonly threadsBefore: number | null;
  /** Keeps this many of a session's newest events, and up to 64 more: a store trims a log when it has grown by 64. */
  readonly eventsKept: number;
  /** Events since this time are kept, whatever their number. */
  readonly eventsSince: number;
  readonly idempotencyBefore: number;
  /** Uses in windows that started before this time are deleted. */
  readonly usesBefore: number;
  /** What wallets were asked for in sessions that have been deleted since is deleted, if it was before this time. */
  readonly transactionsBefore: number;
  /** Request counts and work of days that started before this time are deleted. */
  readonly usageBefore: number;
  /** Minutes of activity and failures before this time are deleted. */
  readonly activityBefore: number;
}

/** The last thread of the previous page of a list. */
export interface ThreadCursor {
  readonly activeAt: number;
  readonly id: string;
}

/** Selects a page of a list of threads. `after` null: the first page. */
export interface ThreadPage {
  readonly limit: number;
  readonly after: ThreadCursor | null;
}

/** A stored App key: only its digest, never the key itself. */
export interface StoredKey {
  readonly id: string;
  /** SHA-256 of the key, in lower-case hex. */
  readonly digest: string;
  readonly apps: readonly string[];
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** Stores sessions, messages, turns, events and keys. The source of truth: memory only caches it. */
export interface Store
  extends
    CallStore,
    LeaseStore,
    FaultStore,
    SecretStore,
    OverviewStore,
    TailStore,
    BranchStore,
    UsageStore,
    WalletStore {
  // --- sessions

  /** Reads a session with its thread, or a part of it. `deleted`: it was deleted and not created again. */
  loadThread(id: string, part?: ThreadPart): Promise<StoredThread | 'deleted' | 'unknown'>;
  /** Reads the current revision of a session, as it is after the call. Cheap: a cache uses it to validate an entry. */
  revisionOf(id: string): Promise<number | 'deleted' | 'unknown'>;
  /**
   * Reads the heads of many sessions, so that a subscriber can detect what it has missed. Not one consistent read.
   * Unknown ids are absent.
   */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, SessionHead | 'deleted'>>;
  /**
   * Creates or changes a session. A deleted session that is created again starts empty, but its event ids and revisions
   * continue.
   */
  saveSession(change: SessionChange): Promise<SavedSession>;
  /** Deletes a session with its messages, turns, events and idempotency keys. False: it is not stored. */
  deleteSession(id: string, at: number): Promise<boolean>;
  /** Lists the threads of a wallet, newest activity first, then by id, descending. Reads no messages. */
  listThreads(wallet: string, page: ThreadPage): Promise<ThreadSummary[]>;
  /** Lists all sessions, or those of a wallet, in the same order. For the operator. */
  listSessions(page: ThreadPage & { readonly wallet?: string | undefined }): Promise<Session[]>;
  /**
   * Reads a page of records in order: the last `limit` ones before the record `before`, or fewer, but at least one, when
   * these have about `PAGE_CHARS` or more. `unknown_message`: the session has no such record.
   */
  readMessages(
    id: string,
    page: { readonly limit: number; readonly before: string | null },
  ): Promise<{ readonly messages: Message[]; readonly hasMore: boolean } | 'unknown_message'>;

  // --- turns

  /**
   * Stores a user message and its turn, with the idempotency key, and the session if it is new. Durable once resolved.
   */
  acceptMessage(acceptance: Acceptance): Promise<Accepted>;
  /** Reads a turn of a session with its records in order. */
  readTurn(
    sessionId: string,
    turnId: string,
  ): Promise<{ readonly turn: Turn; readonly messages: Message[] } | undefined>;
  /** Reads the last checkpoint of the text in flight. Cheap. Undefined: the session has no running turn. */
  readFlight(sessionId: string): Promise<Flight | undefined>;
  /** Counts the queued and running turns on all nodes. Cheap. */
  countTurns(): Promise<{ readonly queued: number; readonly running: number }>;
  /**
   * Interrupts the queued turns of a session and marks the running one for cancellation; an `endTurn` that is called
   * later claims none of them. Undefined: there are none.
   */
  interruptTurns(
    sessionId: string,
    at: number,
  ): Promise<(Interruption & { readonly commit: Commit }) | undefined>;
  /** Stores steps, events and the checkpoint of a running turn. `lost`: a later attempt owns it, nothing is written. */
  saveProgress(turn: ClaimedTurn, progress: Progress, at: number): Promise<Commit | 'lost'>;
  /** Ends a turn and stores its reply. `lost`: a later attempt owns the turn, and nothing was written. */
  endTurn(
    turn: ClaimedTurn,
    ending: TurnEnding,
  ): Promise<{ readonly commit: Commit; readonly next: ClaimedTurn | null } | 'lost'>;

  // --- events

  /** Logs events outside a turn. Undefined: the session is not stored. */
  appendEvents(id: string, events: readonly EventBody[], at: number): Promise<Commit | undefined>;
  /** Reads events with ids above `after`, in order. `oldestId` is `lastId + 1` if no event is stored. */
  readEvents(
    id: string,
    after: number,
    limit: number,
  ): Promise<{ readonly events: LoggedEvent[]; readonly oldestId: number; readonly lastId: number }>;
  /** Reads the newest system events of all kinds, in order. */
  readSystemEvents(id: string, count: number): Promise<SystemEvent[]>;

  // --- App keys and quotas

  /** Counts a request against its quotas. If one is used up, returns that one and counts nothing. */
  countRequest(quotas: readonly Quota[]): Promise<Quota | undefined>;
  saveKey(key: StoredKey): Promise<void>;
  findKey(digest: string): Promise<StoredKey | undefined>;
  listKeys(): Promise<StoredKey[]>;
  /** False: there is no such key. */
  revokeKey(id: string, at: number): Promise<boolean>;

  // --- housekeeping

  /**
   * Checks that the store is readable and writable.
   * @throws StoreUnavailableError
   */
  check(): Promise<void>;
  /** Deletes expired data, slice by slice, until the signal aborts. Returns the ids of the deleted threads. */
  prune(prune: Prune, signal?: AbortSignal): Promise<string[]>;
  close(): Promise<void>;
}
