/** The API that a client speaks: the current one or the earlier revision. */
export type SurfaceName = 'current' | 'legacy';

/** Anything that JSON can say. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
/** An object of JSON. */
export type JsonObject = Record<string, JsonValue>;

/** How a client reaches the service, and as whom. */
export interface ClientOptions {
  /** The service's base URL, without a path; empty: the origin of the page. */
  readonly url: string;
  /** Default: `current`. */
  readonly surface?: SurfaceName;
  /** The session to go on with, a UUID; default: a new one. */
  readonly sessionId?: string;
  /** The App to talk to; default: the service's. */
  readonly app?: string;
  /** The App key; sent only where an App is named. */
  readonly key?: string;
  /** The bearer of the stored secrets that tools may use. */
  readonly clientId?: string;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
  /** Told of each request when its answer's head has come, or when it failed. */
  readonly onExchange?: (exchange: Exchange) => void;
  /** Told of each event as it came over the wire, before it is shown. */
  readonly onWireEvent?: (event: WireEvent) => void;
}

/** One request and the head of its answer. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  /** As sent, a key included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Null: the service was not reached. */
  readonly status: number | null;
  readonly startedAt: Date;
  /** Until the answer's head. */
  readonly milliseconds: number;
}

/** One event of a stream, by its path. */
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
  /** True for the text of a turn that still runs. */
  readonly isStreaming: boolean;
  /** The outcome of a tool, as text; null for what is no outcome. */
  readonly toolResult: { readonly name: string; readonly result: string } | null;
}

/** A session as the service has it. */
export interface SessionState {
  readonly title: string | null;
  readonly status: 'idle' | 'processing' | 'interrupted';
  readonly messages: readonly ChatMessage[];
  readonly userState: JsonObject | null;
  /** What went wrong, told once. */
  readonly errors: readonly string[];
  /** The body as it came. */
  readonly raw: JsonObject;
}

/** A call of a tool, as it goes on. */
export interface ToolProgress {
  readonly type: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly status: 'running' | 'complete' | 'failed';
  /** Where the surface tells them. */
  readonly args?: JsonObject;
  readonly message?: string;
  /** As text, once there is one. */
  readonly result?: string;
}

/** What happens in a session, the same for both surfaces. */
export type SessionEvent =
  /** The stream is attached, or was lost and is being reopened. */
  | { readonly type: 'connection'; readonly state: 'open' | 'lost' }
  /** The whole state: at first, after a gap, and when a turn has ended. What was shown before yields to it. */
  | { readonly type: 'state'; readonly state: SessionState }
  | { readonly type: 'turn_started'; readonly turnId: string }
  /** More text of the turn. */
  | { readonly type: 'text'; readonly turnId: string; readonly content: string }
  | ToolProgress
  | {
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly status: 'complete' | 'interrupted' | 'failed';
      /** Why it failed, where that is told. */
      readonly error?: string;
    }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'notice'; readonly message: string };

/** What may go with a message. */
export interface SendOptions {
  /** A wallet address, which binds the session. */
  readonly wallet?: string;
  readonly userState?: JsonObject;
  /** Default: a new one for each call, so that a repeat after a lost connection asks once. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** A thread of a list. */
export interface ThreadSummary {
  readonly sessionId: string;
  readonly title: string;
}

/** One session of one service, over one surface. Methods reject with a `ClientError`. */
export interface Client {
  readonly surface: SurfaceName;
  readonly sessionId: string;
  /** Makes the session last, and binds a wallet to it if given. */
  create(wallet?: string): Promise<ThreadSummary>;
  /** Resolves once the message is accepted for good. Repeated by itself when the connection is lost. */
  send(text: string, options?: SendOptions): Promise<void>;
  /** Sends, and yields what happens until the answer has ended; the last is `turn_ended`. Survives lost connections. */
  ask(text: string, options?: SendOptions): AsyncIterable<SessionEvent>;
  /** Everything that happens in the session, first its state; reconnects by itself until `signal` aborts. */
  watch(signal: AbortSignal): AsyncIterable<SessionEvent>;
  state(): Promise<SessionState>;
  /** Cancels what runs and waits. */
  interrupt(): Promise<SessionState>;
  /** Merges a patch into the user state. */
  setUserState(patch: JsonObject): Promise<SessionState>;
  /** The threads of a wallet, newest first. */
  threads(wallet: string): Promise<readonly ThreadSummary[]>;
  rename(sessionId: string, title: string): Promise<void>;
  delete(sessionId: string): Promise<void>;
  /** The Apps that the key opens. */
  apps(): Promise<readonly string[]>;
  /** The rigs to choose from, the session's first. */
  rigs(): Promise<readonly string[]>;
  selectRig(rig: string): Promise<void>;
  /** Ends its streams; later calls reject. */
  close(): void;
}
