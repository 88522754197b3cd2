import type { Feed } from './model/feed.js';
import type { RigChoice } from './model/rig-choice.js';
import type { SendRequest, Sent, SystemMessage } from './model/send-request.js';
import type { SessionRef, ThreadSummary } from './model/session.js';
import type { TurnUpdate, Update } from './model/update.js';
import type { App } from './model/app.js';
import type { SystemEvent } from './model/event.js';
import type { HealthStatus } from './operations/health.js';
import type { JsonObject } from './model/json.js';
import type { SecretValues } from './access/secrets.js';
import type { KeyOwner, ProviderKey } from './access/provider-keys.js';
import type { SimulationReport, SimulationRequest } from './model/simulation.js';
import type { Message } from './model/message.js';
import type { BranchRequest } from './sessions/branches.js';
import type { TurnSummary } from './model/turn.js';
import type { ThreadCursor } from './ports/store.js';
import type { Invocation, InvocationRequest } from './tools/direct-calls.js';
import type { ToolDescription } from './ports/tool.js';
import type { Snapshot } from './model/snapshot.js';
import type { CountedSurface } from './ports/usage-store.js';
import type { CountUse } from './operations/usage-tally.js';
import type { Challenge, WalletProof } from './wallet/wallet-proofs.js';

/** Creates, reads, lists, renames and deletes sessions. */
export interface SessionApi {
  /** Creates a session, or binds a wallet to an existing one. */
  createSession(request: {
    sessionId: string;
    wallet?: string | undefined;
    walletProof?: string | undefined;
  }): Promise<{ session: ThreadSummary; created: boolean }>;
  /** @throws RefusedError `not_found` */
  getSession(sessionId: string): Promise<ThreadSummary>;
  /** Creates the session if it does not exist and was not deleted. */
  touch(session: SessionRef): Promise<void>;
  /**
   * Returns the session's own thread, then the other threads of its wallet, newest first, at most 10,000 in all. Where
   * wallets have to sign in, the other threads require a valid proof.
   * @throws RefusedError `not_found`
   */
  getThreads(sessionId: string, walletProof?: string): Promise<readonly ThreadSummary[]>;
  /**
   * Lists the threads of a wallet, latest activity first. Creates `session` if it is given and does not exist.
   */
  listThreads(request: {
    session: SessionRef | undefined;
    wallet: string;
    walletProof?: string | undefined;
    limit: number;
    after: ThreadCursor | null;
  }): Promise<{ threads: readonly ThreadSummary[]; next: ThreadCursor | null }>;
  renameSession(sessionId: string, title: string): Promise<ThreadSummary>;
  /**
   * Archives a thread, or takes it out of the archive. It stays readable and usable.
   * @throws RefusedError `not_found`
   */
  archiveSession(sessionId: string, archived: boolean): Promise<ThreadSummary>;
  /**
   * Deletes a session with all its data: stops its running turn and ends its streams.
   * @throws RefusedError `not_found`
   */
  deleteSession(sessionId: string): Promise<void>;
  /**
   * Creates a session with the history of another one up to a message: the records of ended turns. It has the wallet,
   * App, rig, user state and, marked as that of a branch, the title.
   * @throws RefusedError `not_found`; `invalid` for a message that does not exist or whose turn has not ended;
   * `unauthenticated` and `forbidden` as `createSession` for the wallet; `key_reused`, `gone`, `full`, `too_many`
   */
  branchSession(request: BranchRequest): Promise<ThreadSummary>;
  readMessages(
    sessionId: string,
    page: { limit: number; before: string | null },
  ): Promise<{ messages: readonly Message[]; hasMore: boolean }>;
  /** Returns how the turns of a page of messages went, in order. */
  readTurns(sessionId: string, messages: readonly Message[]): Promise<readonly TurnSummary[]>;
}

/** Accepts messages, waits for turns, interrupts them, and reads the state of a session. */
export interface ChatApi {
  /** Stores a message and queues its turn. Both are durable when the promise resolves. */
  send(request: SendRequest): Promise<Sent>;
  /**
   * Resolves when the turn has ended, its session was deleted, `signal` aborts, or the service drains. Never rejects.
   */
  turnEnded(sent: Sent, signal: AbortSignal): Promise<'deleted' | 'over'>;
  /**
   * Returns the current state of the session, after merging `userState` into it if given. Returns synchronously when
   * the cache alone can serve it, as for most polls.
   * @param options.leavesFaults the response has no room for system errors: keeps them for the next snapshot that has
   * @param options.tail how many of the last messages the caller needs: limits how much of an uncached thread is read
   */
  snapshot(
    session: SessionRef,
    options?: {
      userState?: JsonObject | undefined;
      leavesFaults?: boolean;
      tail?: number | undefined;
    },
  ): Snapshot | Promise<Snapshot>;
  /**
   * Cancels the running turn and the queued ones. Returns true if there was one. A later snapshot shows the end.
   */
  interrupt(session: SessionRef): Promise<boolean>;
}

/** Live streams of sessions and turns. */
export interface StreamApi {
  /**
   * Subscribes to the updates of a session. The subscription is active when the promise resolves.
   * @param options.after replays the events after this id; null: live events only
   */
  updates(session: SessionRef, options: { after: number | null; turns: boolean }): Promise<Feed<Update>>;
  /** Streams one turn to its end: first what has happened so far, then live events. */
  watchTurn(sent: Sent): Promise<Feed<TurnUpdate>>;
  /** Returns the last `count` system events of all kinds, without consuming them. */
  systemEvents(session: SessionRef, count: number): Promise<readonly SystemEvent[]>;
}

/** Lists Apps and rigs, and selects the rig of a session. */
export interface ControlApi {
  /**
   * Lists `default` and the Apps that the key authorizes.
   * @throws RefusedError `unauthenticated` for an invalid key, or for a missing one if `keyRequired`
   */
  listApps(key: string | undefined, options: { keyRequired: boolean }): Promise<readonly App[]>;
  /** Lists every configured rig. */
  allRigs(): readonly RigChoice[];
  /** Lists the rigs of the App (absent: the session's last App, else the default), the session's current rig first. */
  listRigs(request: {
    session?: SessionRef | undefined;
    app?: string | undefined;
    key: string | undefined;
  }): Promise<readonly RigChoice[]>;
  /**
   * Selects the session's rig.
   * @throws RefusedError `invalid` when the rig is unknown or not allowed. The path of its problem is `parameter`.
   */
  selectRig(request: {
    session: SessionRef;
    rig: string;
    app?: string | undefined;
    key: string | undefined;
    /** The name of the parameter that named the rig. Default: `rig`. */
    parameter?: string;
  }): Promise<{ created: boolean }>;
}

/** Lists tools, and calls them without a rig. */
export interface ToolApi {
  /** Lists the tools of an App (absent: `default`). */
  listTools(app: string | undefined, key: string | undefined): Promise<readonly ToolDescription[]>;
  /**
   * Runs one tool of an App for a session.
   * @throws RefusedError `not_found` for an unknown tool; `invalid` for arguments that do not match its schema or
   * contain a private key
   */
  invokeTool(request: InvocationRequest): Promise<Invocation>;
}

/** Stores the secrets that a client lends to tools. */
export interface SecretApi {
  /**
   * Seals and stores the values of a client for an App. Binds `session` to the client if given.
   * @returns the handle of each value, by name
   */
  storeSecrets(
    request: SecretValues & { readonly session: SessionRef | undefined },
  ): Promise<Readonly<Record<string, string>>>;
  /**
   * Binds a session to the client whose secrets and provider keys it uses. An id that is too short to store anything
   * under it binds nothing.
   */
  bindClient(session: SessionRef, clientId: string): Promise<void>;
  /** Lists the names of a client's secrets, by App: none when the owner names no client. */
  listSecrets(owner: KeyOwner): Promise<Readonly<Record<string, readonly string[]>>>;
  /**
   * Removes secrets of a client, never provider keys; null: of every App, of every name.
   * @returns how many were removed
   */
  deleteSecrets(clientId: string, which: { app: string | null; name: string | null }): Promise<number>;
}

/** Signs wallets in. */
export interface WalletApi {
  /** @throws RefusedError `not_found` when the configuration does not require sign-in */
  walletChallenge(): Challenge;
  /**
   * @throws RefusedError `not_found` when the configuration does not require sign-in; `invalid` for a malformed
   * message; `unauthenticated` for a message that proves nothing
   */
  proveWallet(request: { readonly message: string; readonly signature: string }): Promise<WalletProof>;
}

/** Wallet requests: simulations, and what clients and their wallets report. */
export interface WalletRequestApi {
  /**
   * Takes a message that is not part of the conversation: text, or JSON `{type, payload}`. A change of the wallet is
   * merged into the user state, the outcome of a wallet request starts a turn, anything else is stored as a `system`
   * message. Waits for no model and no chain. Creates the session.
   * @param clientId the client that the turn of an outcome belongs to; undefined: the one that is bound to the session,
   * otherwise that of the last turn that has one
   * @throws RefusedError `invalid` for a message that is too long; `unavailable` while the service drains
   */
  report(session: SessionRef, message: string, clientId?: string): Promise<SystemMessage>;
  /**
   * Simulates a batch of transactions.
   * @throws RefusedError `invalid` for a chain that is not configured, or without a sender
   */
  simulate(request: SimulationRequest): Promise<SimulationReport>;
}

/** The keys for model providers that clients bring. Each method names the client, or a session that is bound to one. */
export interface ProviderKeyApi {
  /** @throws RefusedError `invalid` when neither names a client */
  listProviderKeys(owner: KeyOwner): Promise<readonly ProviderKey[]>;
  /**
   * Seals and stores a key. The turns of this client on rigs of this provider use it. Binds the session, if the owner
   * names both a client and a session.
   * @throws RefusedError `invalid` for an unknown provider, a malformed key, or an owner without a client; `too_many`
   * when there is no room
   */
  storeProviderKey(
    owner: KeyOwner,
    key: { readonly provider: string; readonly apiKey: string; readonly label: string | undefined },
  ): Promise<ProviderKey>;
  /** @returns false when there was no such key */
  deleteProviderKey(owner: KeyOwner, provider: string): Promise<boolean>;
}

/** Counts requests, for the operator. */
export interface UsageApi {
  /**
   * Returns the counter of an endpoint (`GET /api/state`) of a surface. Create it once and call it for each request; it
   * never throws.
   */
  usageCounter(surface: CountedSurface, endpoint: string): CountUse;
}

/** Limits the rate of requests. */
export interface AdmissionApi {
  /** True when a request limit is configured: callers must then call `admit` before each request. */
  readonly countsRequests: boolean;
  /**
   * Counts a request against the limits of its session and App key.
   * @throws RefusedError `too_many`
   */
  admit(request: { sessionId: string | undefined; key: string | undefined }): Promise<void>;
}

/** Reports the health of the service. */
export interface HealthApi {
  /** Whether the service accepts new messages: not while it drains or the store is unavailable. */
  health(): Promise<{ readonly status: HealthStatus }>;
}

/**
 * All operations of the core. Each surface depends only on the parts that it uses. Every refused operation throws a
 * `RefusedError`.
 */
export interface Core
  extends
    SessionApi,
    ChatApi,
    StreamApi,
    ControlApi,
    ToolApi,
    SecretApi,
    WalletApi,
    WalletRequestApi,
    ProviderKeyApi,
    UsageApi,
    AdmissionApi,
    HealthApi {}
