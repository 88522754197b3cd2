import type { JsonObject } from './json.js';
import type { PendingRequest } from './pending.js';

export type { JsonObject, JsonValue } from './json.js';

/** The API surface that a client uses: the current one or the earlier revision. */
export type SurfaceName = 'current' | 'legacy';

/** The options of a client. */
export interface ClientOptions {
  /** The service's base URL, or a path on the origin of the page; empty: the origin of the page. */
  readonly url: string;
  /** Default: `current`. */
  readonly surface?: SurfaceName;
  /** The UUID of the session to continue; default: a new one. */
  readonly sessionId?: string;
  /** The App; default: the service's default. */
  readonly app?: string;
  /** The App key; sent only if an App is named. */
  readonly key?: string;
  /** The id of the client whose stored secrets tools may use. */
  readonly clientId?: string;
  /** Returns the proof that the caller owns its wallet; sent with the requests that name a wallet. */
  readonly walletProof?: () => string | undefined;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch;
  /** Called for each request when its response headers have arrived, or when it failed. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Called for each event as received, before it is processed. */
  readonly onWireEvent?: (event: WireEvent) => void;
}

/** One request and the status of its response. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** The headers as sent, including an App key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Null: no response. */
  readonly status: number | null;
  readonly startedAt: Date;
  /** The time until the response headers arrived. */
  readonly milliseconds: number;
  /** The delay before another attempt that the service asked for, in milliseconds; null: none. */
  readonly retryAfterMs: number | null;
}

/** One event of a stream, with the stream's path. */
export interface WireEvent {
  readonly path: string;
  readonly id: string | undefined;
  readonly data: JsonObject;
  readonly at: Date;
}

/** A message of a snapshot. */
export interface ChatMessage {
  readonly sender: 'user' | 'agent' | 'system';
  readonly content: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** True for the partial text of a running turn. */
  readonly isStreaming: boolean;
  /** The result of a tool as text; null for other messages. */
  readonly toolResult: { readonly name: string; readonly result: string } | null;
}

/** The state of a session on the service. */
export interface SessionState {
  readonly title: string | null;
  readonly status: 'idle' | 'processing' | 'interrupted';
  readonly messages: readonly ChatMessage[];
  readonly userState: JsonObject | null;
  /** Errors, each delivered once. */
  readonly errors: readonly string[];
  /** The unprocessed response body. */
  readonly raw: JsonObject;
}

/** The progress of a tool call. */
export interface ToolProgress {
  readonly type: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly status: 'running' | 'complete' | 'failed';
  /** Present if the surface provides them. */
  readonly turnId?: string;
  readonly args?: JsonObject;
  readonly message?: string;
  /** The result as text, once available. */
  readonly result?: string;
}

/** The events of a session, the same for both surfaces. */
export type SessionEvent =
  /** The stream is open, or was lost and is being reopened. */
  | { readonly type: 'connection'; readonly state: 'open' | 'lost' }
  /** The whole state: at the start, after a gap, and when a turn has ended. It replaces everything shown before. */
  | { readonly type: 'state'; readonly state: SessionState }
  | { readonly type: 'turn_started'; readonly turnId: string }
  /** More text of the turn. */
  | { readonly type: 'text'; readonly turnId: string; readonly content: string }
  | ToolProgress
  | {
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly status: 'complete' | 'interrupted' | 'failed';
      /** The reason of a failure, if known. */
      readonly error?: string;
    }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'notice'; readonly message: string };

/** The options of a message. */
export interface SendOptions {
  /** A wallet address to bind the session to. */
  readonly wallet?: string;
  readonly userState?: JsonObject;
  /** Default: a new one for each call, so that automatic retries send the message only once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** An entry of the thread list. */
export interface ThreadSummary {
  readonly sessionId: string;
  readonly title: string;
}

/** The proof that a wallet belongs to the caller. A bearer credential. */
export interface WalletProof {
  readonly proof: string;
  /** The wallet that it proves: an address, or chain and address (CAIP-10). */
  readonly wallet: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What a wallet reports to its session. */
export interface WalletReport {
  readonly type: 'wallet:state_changed' | 'wallet:tx_complete' | 'wallet_eip712_response';
  readonly payload: JsonObject;
}

/** An App with what a caller can set up. */
export interface AppDetails {
  readonly name: string;
  readonly secrets: readonly SecretSlot[];
  /** Prompts to begin a thread with; null: none are configured. */
  readonly prompts: readonly string[] | null;
}

/** A secret that an App's tools use. */
export interface SecretSlot {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A value for a secret slot. */
export interface AppSecret {
  readonly app: string;
  readonly name: string;
  readonly value: string;
}

/** A rig: its id, and its name for people. */
export interface RigDetails {
  readonly id: string;
  readonly name: string;
}

/** A stored message of a thread. */
export interface HistoryMessage {
  readonly id: string;
  readonly turnId: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  readonly toolCalls: readonly HistoryCall[];
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A stored tool call. */
export interface HistoryCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
  /** The result as text; null while the call is running. */
  readonly result: string | null;
  readonly failed: boolean;
}

/** How a turn went. */
export interface HistoryTurn {
  readonly turnId: string;
  readonly status: 'queued' | 'running' | 'complete' | 'interrupted' | 'failed';
  /** The model that responded; null if none did, or not yet. */
  readonly rig: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The reason of a failure. */
  readonly error: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601; null: it has not ended. */
  readonly endedAt: string | null;
}

/** A page of the stored messages of a thread, in order, and the turns that they belong to. */
export interface HistoryPage {
  readonly messages: readonly HistoryMessage[];
  readonly turns: readonly HistoryTurn[];
  /** True if there are older messages. */
  readonly hasMore: boolean;
}

/** A client for one session of one service over one surface. Methods reject with a `ClientError`. */
export interface Client {
  readonly surface: SurfaceName;
  readonly sessionId: string;
  /** Creates the session on the service, and binds a wallet to it if given. */
  create(wallet?: string): Promise<ThreadSummary>;
  /** Sends a message, and resolves once it is durably accepted. Retries when the connection is lost. */
  send(text: string, options?: SendOptions): Promise<void>;
  /**
   * Sends a message and yields events until its turn has ended; the last event is `turn_ended`. Survives lost
   * connections.
   */
  ask(text: string, options?: SendOptions): AsyncIterable<SessionEvent>;
  /** Yields the state and then all events of the session. Reconnects until `signal` aborts. */
  watch(signal: AbortSignal): AsyncIterable<SessionEvent>;
  state(): Promise<SessionState>;
  /** Lets `watch` read the state now, after a change that the surface does not announce. */
  refresh(): void;
  /** Cancels the running and the queued turns. */
  interrupt(): Promise<SessionState>;
  /** Merges a patch into the user state. */
  setUserState(patch: JsonObject): Promise<SessionState>;
  /** Lists the threads of a wallet, newest first. */
  threads(wallet: string): Promise<readonly ThreadSummary[]>;
  rename(sessionId: string, title: string): Promise<void>;
  /** Puts a thread into the archive, or takes it out again. It stays readable and usable. */
  archive(sessionId: string, archived: boolean): Promise<void>;
  delete(sessionId: string): Promise<void>;
  /**
   * Creates a session with the history of this one, up to a message.
   * @param before the id of the message that ends the history, excluded; absent: the whole history
   */
  branch(before?: string): Promise<ThreadSummary>;
  /**
   * Reads a page of the stored messages, with their ids and with how their turns went.
   * @param page `limit`: 1 to 1000, of which a page of long messages has fewer; `before`: only messages before the one
   * with this id
   */
  historyPage(page: {
    readonly limit: number;
    readonly before?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  }): Promise<HistoryPage>;
  /** Lists the Apps that the key covers. */
  apps(): Promise<readonly string[]>;
  /** The same with secret slots and prompts, which the legacy surface does not list. */
  appDetails(): Promise<readonly AppDetails[]>;
  /** Lists the rigs, the session's first. */
  rigs(): Promise<readonly string[]>;
  /** The same with their names. */
  rigDetails(): Promise<readonly RigDetails[]>;
  selectRig(rig: string): Promise<void>;
  /** Returns the names of the values that a client has stored for an App. */
  storedSecrets(clientId: string, app: string): Promise<readonly string[]>;
  /** Stores a value for a secret slot of an App, and binds the session to the client id. */
  storeSecret(clientId: string, secret: AppSecret): Promise<void>;
  deleteSecret(clientId: string, secret: Omit<AppSecret, 'value'>): Promise<void>;
  /** Returns the requests that wait for the person's wallet. */
  pending(): Promise<readonly PendingRequest[]>;
  /**
   * Reports the state of a wallet or the outcome of wallet requests, in one attempt. Repeating a report changes
   * nothing.
   */
  reportSystem(report: WalletReport): Promise<void>;
  /** Returns a nonce for a sign-in message (EIP-4361), usable once. */
  walletNonce(): Promise<string>;
  /** Exchanges a signed message for a proof. */
  proveWallet(message: string, signature: string): Promise<WalletProof>;
  /** Ends all streams. Later calls reject. */
  close(): void;
}
