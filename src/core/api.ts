import type { Feed } from './model/feed.js';
import type { RigChoice } from './model/rig-choice.js';
import type { SendRequest, Sent } from './model/send-request.js';
import type { SessionRef, ThreadSummary } from './model/session.js';
import type { TurnUpdate, Update } from './model/update.js';
import type { App } from './model/app.js';
import type { SystemEvent } from './model/event.js';
import type { HealthStatus } from './operations/health.js';
import type { JsonObject } from './model/json.js';
import type { Message } from './model/message.js';
import type { ThreadCursor } from './ports/store.js';
import type { Invocation, InvocationRequest } from './tools/direct-calls.js';
import type { ToolDescription } from './ports/tool.js';
import type { Snapshot } from './model/snapshot.js';
import type { CountedSurface } from './ports/usage-store.js';
import type { CountUse } from './operations/usage-tally.js';
import type { Challenge, WalletProof } from './wallet/wallet-proofs.js';

/** Sessions and their threads. */
export interface SessionApi {
  /** Creates a session, or binds a wallet to one that exists. */
  createSession(request: {
    sessionId: string;
    wallet?: string | undefined;
    walletProof?: string | undefined;
  }): Promise<{ session: ThreadSummary; created: boolean }>;
  /** @throws RefusedError `not_found` */
  getSession(sessionId: string): Promise<ThreadSummary>;
  /** Brings a session into being, as any request with its header does; one that was deleted stays so. */
  touch(session: SessionRef): Promise<void>;
  /**
   * The session's own thread, then the other threads of its wallet, newest first, 10,000 in all at most; where wallets
   * have to sign in, those only with a proof. @throws RefusedError `not_found`
   */
  getThreads(sessionId: string, walletProof?: string): Promise<readonly ThreadSummary[]>;
  /** The threads of a wallet, newest activity first. `session` is created when unknown, as with any request. */
  listThreads(request: {
    session: SessionRef;
    wallet: string;
    walletProof?: string | undefined;
    limit: number;
    after: ThreadCursor | null;
  }): Promise<{ threads: readonly ThreadSummary[]; next: ThreadCursor | null }>;
  renameSession(sessionId: string, title: string): Promise<ThreadSummary>;
  /** Interrupts what runs, ends its streams, removes everything. @throws RefusedError `not_found` */
  deleteSession(sessionId: string): Promise<void>;
  readMessages(
    sessionId: string,
    page: { limit: number; before: string | null },
  ): Promise<{ messages: readonly Message[]; hasMore: boolean }>;
}

/** Messages, what became of them, and the state of a session. */
export interface ChatApi {
  /** Stores a message and queues its turn; durable when it resolves. */
  send(request: SendRequest): Promise<Sent>;
  /**
   * Resolves when the turn has ended, when its session was deleted, when `signal` aborts, or on a drain. Never rejects.
   */
  turnEnded(sent: Sent, signal: AbortSignal): Promise<'deleted' | 'over'>;
  /**
   * The session as it is now, after merging `userState` into it if given. `leavesFaults`: the answer has no place for
   * faults, and the next snapshot that has one carries them. `tail`: how many of the last messages are wanted; a thread
   * that memory does not have is then read no further. At once where memory alone has it all, as for most polls.
   */
  snapshot(
    session: SessionRef,
    options?: {
      userState?: JsonObject | undefined;
      leavesFaults?: boolean;
      tail?: number | undefined;
    },
  ): Snapshot | Promise<Snapshot>;
  /** Cancels what runs and what waits; true when there was something. The snapshot read after it is final. */
  interrupt(session: SessionRef): Promise<boolean>;
}

/** What happens in a session, as it happens. */
export interface StreamApi {
  /**
   * The session's updates, attached when it resolves. `after`: replay what came after that event id; null: live only.
   */
  updates(session: SessionRef, options: { after: number | null; turns: boolean }): Promise<Feed<Update>>;
  /** Everything of one turn from its beginning, then live, to its end. */
  watchTurn(sent: Sent): Promise<Feed<TurnUpdate>>;
  /** The last system events of all kinds. Drains nothing. */
  systemEvents(session: SessionRef, count: number): Promise<readonly SystemEvent[]>;
}

/** Apps and rigs. */
export interface ControlApi {
  /**
   * `default` and what the key authorizes. @throws RefusedError `unauthenticated` for a bad key, or with `keyRequired`
   * for none
   */
  listApps(key: string | undefined, options: { keyRequired: boolean }): Promise<readonly App[]>;
  /** Every rig that there is. */
  allRigs(): readonly RigChoice[];
  /** The rigs of the App (absent: the session's last, else the default), the one that the session uses first. */
  listRigs(request: {
    session?: SessionRef | undefined;
    app?: string | undefined;
    key: string | undefined;
  }): Promise<readonly RigChoice[]>;
  /** Selects the session's rig. @throws RefusedError `invalid` when unknown or not allowed */
  selectRig(request: {
    session: SessionRef;
    rig: string;
    app?: string | undefined;
    key: string | undefined;
  }): Promise<{ created: boolean }>;
}

/** Tools, called without a rig. */
export interface ToolApi {
  /** The tools of an App (absent: `default`). */
  listTools(app: string | undefined, key: string | undefined): Promise<readonly ToolDescription[]>;
  /**
   * Runs one tool of an App for a session. @throws RefusedError `not_found`, or `invalid` for arguments that do not fit
   * or hold a key
   */
  invokeTool(request: InvocationRequest): Promise<Invocation>;
}

/** Values that the tools of a client use. */
export interface SecretApi {
  /**
   * Seals values under a client, for an App. Returns what stands for each: its handle. Binds `session` to the client if
   * given.
   */
  storeSecrets(request: {
    session: SessionRef | undefined;
    clientId: string;
    values: JsonObject;
    app: string | undefined;
    key: string | undefined;
  }): Promise<Readonly<Record<string, string>>>;
  /** Binds a session to the client whose secrets its tools use. */
  bindClient(session: SessionRef, clientId: string): Promise<void>;
  /** The names that a client has stored, by App. */
  listSecrets(clientId: string): Promise<Readonly<Record<string, readonly string[]>>>;
  /** Removes a client's secrets; null: of every App, of every name. Returns how many there were. */
  deleteSecrets(clientId: string, which: { app: string | null; name: string | null }): Promise<number>;
}

/** Wallets that sign in. */
export interface WalletApi {
  /** @throws RefusedError `not_found` when nobody asks for proofs */
  walletChallenge(): Challenge;
  /**
   * @throws RefusedError `not_found`, `invalid` for what is no sign-in message, `unauthenticated` for one that proves
   * nothing
   */
  proveWallet(request: { readonly message: string; readonly signature: string }): Promise<WalletProof>;
}

/** Counts of requests, for the operator. */
export interface UsageApi {
  /** The counter of an endpoint (`GET /api/state`) of a surface: made once, called for each request. Never fails. */
  usageCounter(surface: CountedSurface, endpoint: string): CountUse;
}

/** The limits of requests. */
export interface AdmissionApi {
  /** True when requests are counted: then `admit` is asked before each. */
  readonly countsRequests: boolean;
  /** Counts a request against the limits of its session and App key. @throws RefusedError `too_many` */
  admit(request: { sessionId: string | undefined; key: string | undefined }): Promise<void>;
}

/** How the service is. */
export interface HealthApi {
  /** Whether new messages are taken: `draining`, or the store does not answer. */
  health(): Promise<{ readonly status: HealthStatus }>;
}

/**
 * All that surfaces can ask of the core: each asks for the part that it uses. Everything that is refused throws a
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
    UsageApi,
    AdmissionApi,
    HealthApi {}
