/**
 * What the core needs of a store. Every method is one whole atomic step, none is optional, and there is no
 * `transaction(callback)`: a synchronous driver would have committed before an async callback ran.
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
import type { StoredThread } from './stored-thread.js';
import type { TailStore } from './tail-store.js';
import type { ClaimedTurn, Lease, Turn, TurnOutcome, Usage } from '../model/turn.js';
import type { UsageStore } from './usage-store.js';

/** A store fails with this when it cannot answer now (down, locked, full, corrupt): the surfaces answer 503. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** How far a session has come. */
export type SessionHead = Pick<Session, 'revision' | 'lastEventId'>;

/** A write to a session beside its turns. */
export interface SessionChange {
  readonly id: string;
  /** What to do when the id is not stored, or was deleted. */
  readonly ifMissing: 'create' | 'refuse';
  /** Write only if the session's `version` still is this (0: not stored). Absent: write whatever it is. */
  readonly ifVersion?: number;
  readonly set: SessionFields;
  readonly events: readonly EventBody[];
  /** True when this counts as activity, which orders lists. */
  readonly isActivity: boolean;
  /** The time of it, in milliseconds since the epoch. */
  readonly at: number;
}

/** What came of it. `stale`: its version is another; `missing`: it is not there and was not to be made. */
export type SavedSession =
  | { readonly kind: 'saved'; readonly session: Session; readonly created: boolean; readonly commit: Commit }
  | { readonly kind: 'stale' }
  | { readonly kind: 'missing' };

/** A message to accept, and all that decides on it. */
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
  /** What bounds it. The first that is used up refuses it; else it counts as one turn against those of turns. */
  readonly quotas: readonly Quota[];
  /** `fingerprint` stands for the message and the App. A key older than `notBefore` counts as never used. */
  readonly idempotency: {
    readonly key: string;
    readonly fingerprint: string;
    readonly notBefore: number;
  } | null;
  readonly busy: BusyStrategy;
  /** How many turns may wait, the running one not counted. */
  readonly maxQueued: number;
  /** How many bytes of text the thread may hold with this message, see `textBytes`. */
  readonly maxSessionBytes: number;
  /** Given: when no turn runs, the new one is claimed in the same step. */
  readonly claim: Lease | null;
  readonly at: number;
}

/** What came of it. All but `accepted` have written nothing. */
export type Accepted =
  | {
      readonly kind: 'accepted';
      readonly session: Session;
      readonly created: boolean;
      readonly turn: Turn;
      readonly message: Message;
      readonly claimed: ClaimedTurn | null;
      /** With `busy: 'interrupt'`: what was cancelled to make room. */
      readonly interruption: Interruption;
      readonly commit: Commit;
    }
  /** The key was used for the same message: `turnId` is the turn that it started. */
  | { readonly kind: 'repeated'; readonly turnId: string }
  | { readonly kind: 'over_quota'; readonly quota: Quota }
  | { readonly kind: 'stale' }
  /** The thread would exceed `maxSessionBytes`; it holds `bytes` now. */
  | { readonly kind: 'full'; readonly bytes: number }
  | { readonly kind: 'busy' }
  | { readonly kind: 'queue_full' }
  | { readonly kind: 'key_reused' };

/** What an interrupt met. */
export interface Interruption {
  /** Queued turns that it ended, in order. */
  readonly cancelled: readonly Turn[];
  /** The turn that runs and is now marked, if any. */
  readonly running: Turn | null;
}

/** What a running turn has to store. Records with the id of a stored one replace it. */
export interface Progress {
  readonly messages: readonly Message[];
  readonly events: readonly EventBody[];
  /** The text of the unfinished step so far; null: what is stored of it stands, with the attempt that stored it. */
  readonly partialText: string | null;
  /** When its first character was shown, in milliseconds since the epoch. Absent: not known. */
  readonly partialSince?: number;
}

/** How a turn ends, and what it leaves. */
export interface TurnEnding {
  readonly outcome: TurnOutcome;
  readonly messages: readonly Message[];
  readonly events: readonly EventBody[];
  /** Words for the user on why it failed: kept with the turn, and as a `SystemError`. */
  readonly error: string | null;
  /** The rig that answered, if one was reached. */
  readonly rig: string | null;
  /** What the provider bills, or an estimate of it where the answer was cut short. */
  readonly usage: Usage;
  /** About how many tokens of text were shown. */
  readonly shownTokens: number;
  /** What it adds to the use of those who have a limit. */
  readonly uses: readonly Use[];
  /** Given: the session's next queued turn is claimed in the same step. */
  readonly claimNext: Lease | null;
  readonly at: number;
}

/** What may go. */
export interface Prune {
  readonly at: number;
  /** Threads without activity since then are deleted; null: none is. */
  readonly threadsBefore: number | null;
  readonly eventsKept: number;
  /** Events since then stay, whatever their number. */
  readonly eventsSince: number;
  readonly idempotencyBefore: number;
  /** Counts of windows that began before are forgotten. */
  readonly usesBefore: number;
  /** Counts of requests of days before this one (its first millisecond) are forgotten. */
  readonly usageBefore: number;
}

/** Where a list of threads goes on: after this one. */
export interface ThreadCursor {
  readonly activeAt: number;
  readonly id: string;
}

/** A page of a list of threads: at most `limit` of them; `after` null: from the first on. */
export interface ThreadPage {
  readonly limit: number;
  readonly after: ThreadCursor | null;
}

/** An App key as it is kept: its digest, never itself. */
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

/** Where sessions, messages, turns, events and keys are kept. The truth: memory is only a cache of it. */
export interface Store
  extends CallStore, LeaseStore, FaultStore, SecretStore, OverviewStore, TailStore, UsageStore {
  // --- sessions

  /** Reads a session with its thread. `deleted`: it was, and nothing was written since. */
  loadThread(id: string): Promise<StoredThread | 'deleted' | 'unknown'>;
  /** The revision that `loadThread` would find now. Cheap: a cache asks it to learn whether it is still right. */
  revisionOf(id: string): Promise<number | 'deleted' | 'unknown'>;
  /**
   * Where each of these sessions is, each at some moment of the call: what watches many of them asks it to learn what
   * it missed. Unknown ids are absent.
   */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, SessionHead | 'deleted'>>;
  /**
   * Creates or changes a session. A deleted one that comes back starts empty, with its event ids and revisions going
   * on.
   */
  saveSession(change: SessionChange): Promise<SavedSession>;
  /** Removes a session, its messages, turns, events and keys. False when there is none. */
  deleteSession(id: string, at: number): Promise<boolean>;
  /** The threads of a wallet, newest activity first, then by id, descending. Reads no message. */
  listThreads(wallet: string, page: ThreadPage): Promise<ThreadSummary[]>;
  /** All sessions, or those of a wallet, in the same order, for the operator. */
  listSessions(page: ThreadPage & { readonly wallet?: string | undefined }): Promise<Session[]>;
  /**
   * A page of records in order: the last `limit` ones before the record `before`. `unknown_message`: no such record
   * here.
   */
  readMessages(
    id: string,
    page: { readonly limit: number; readonly before: string | null },
  ): Promise<{ readonly messages: Message[]; readonly hasMore: boolean } | 'unknown_message'>;

  // --- turns

  /**
   * Stores a user message and its queued turn, with the idempotency key and the session if it is new. Durable when it
   * resolves.
   */
  acceptMessage(acceptance: Acceptance): Promise<Accepted>;
  /** A turn of a session with its records in order. */
  readTurn(
    sessionId: string,
    turnId: string,
  ): Promise<{ readonly turn: Turn; readonly messages: Message[] } | undefined>;
  /** The text in flight of a session's running turn as last checkpointed. Cheap. Undefined: none runs. */
  readFlight(sessionId: string): Promise<Flight | undefined>;
  /** How many turns wait and run now, whoever works on them. Cheap. */
  countTurns(): Promise<{ readonly queued: number; readonly running: number }>;
  /**
   * Ends the queued turns of a session as interrupted and marks the running one. Undefined when there is no turn to
   * cancel.
   */
  interruptTurns(
    sessionId: string,
    at: number,
  ): Promise<(Interruption & { readonly commit: Commit }) | undefined>;
  /**
   * Stores finished steps, events and the checkpoint of a running turn. `lost`: a later attempt has it, nothing was
   * written.
   */
  saveProgress(turn: ClaimedTurn, progress: Progress, at: number): Promise<Commit | 'lost'>;
  /** Ends a turn and stores its reply, in one step. `lost`: a later attempt has it, nothing was written. */
  endTurn(
    turn: ClaimedTurn,
    ending: TurnEnding,
  ): Promise<{ readonly commit: Commit; readonly next: ClaimedTurn | null } | 'lost'>;

  // --- events

  /** Logs events outside a turn. Undefined when the session is not stored. */
  appendEvents(id: string, events: readonly EventBody[], at: number): Promise<Commit | undefined>;
  /** Events with ids above `after`, in order, and the oldest id that is kept (`lastId + 1` when none is). */
  readEvents(
    id: string,
    after: number,
    limit: number,
  ): Promise<{ readonly events: LoggedEvent[]; readonly oldestId: number; readonly lastId: number }>;
  /** The last system events of all kinds, in order. */
  readSystemEvents(id: string, count: number): Promise<SystemEvent[]>;

  // --- use

  /**
   * Counts a request against its quotas, unless one of them is used up: then it is returned, and nothing is counted.
   */
  countRequest(quotas: readonly Quota[]): Promise<Quota | undefined>;

  // --- App keys

  saveKey(key: StoredKey): Promise<void>;
  findKey(digest: string): Promise<StoredKey | undefined>;
  listKeys(): Promise<StoredKey[]>;
  /** False when there is no such key. */
  revokeKey(id: string, at: number): Promise<boolean>;

  // --- housekeeping

  /** Resolves when the store answers and can be written to. @throws StoreUnavailableError */
  check(): Promise<void>;
  /** Removes what has had its time. Returns the ids of the threads that it deleted. */
  prune(prune: Prune): Promise<string[]>;
  close(): Promise<void>;
}
