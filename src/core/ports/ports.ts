/** What the core needs of the world beside its store (`store.ts`). No method is optional. */
import type { Signal } from '../model/event.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { ToolCall, ToolResult } from '../model/message.js';
import type { Problem } from '../model/refusal.js';
import type { Usage } from '../model/turn.js';
import type { UserState } from '../model/user-state.js';

/** Carries signals of a session to whoever watches it, on this node and, with a shared bus, on all others. */
export interface Bus {
  /** Delivers in order of publication. Never fails: a watcher who misses a signal catches up from the store. */
  publish(sessionId: string, signal: Signal): void;
  /** Resolves once attached: nothing published after that is missed. `listener` must not throw. */
  subscribe(sessionId: string, listener: (signal: Signal) => void): Promise<() => void>;
  close(): Promise<void>;
}

/** One message of the history as a rig gets it. */
export type PromptMessage =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls: readonly ToolCall[];
      /** One for each call, in any order. */
      readonly toolResults: readonly ToolResult[];
    };

/** One question to a model. */
export interface RigRequest {
  /** `title`: a title for the conversation is wanted, a few words and nothing else. */
  readonly purpose: 'answer' | 'title';
  readonly instructions: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolDescription[];
}

/** What a model says, as it comes. The last part is `end`. */
export type RigPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  | { readonly type: 'end'; readonly usage: Usage };

/** A model that can be selected. */
export interface Rig {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** How many tokens a request and its answer may have together. */
  readonly contextTokens: number;
  /**
   * Asks the model once. Resolves after the last part. Aborting `signal` closes the upstream connection at once and rejects with its reason.
   * @param take gets each part the moment it comes, without a promise for each token; must not throw
   * @throws RigError
   */
  respond(request: RigRequest, signal: AbortSignal, take: (part: RigPart) => void): Promise<void>;
  /** Tries the endpoint without cost. @throws RigError in words for the operator */
  check(signal: AbortSignal): Promise<void>;
}

/** A rig failed. `message` is for the user: what happened and what to do, no key, no URL, no stack; the rest is in `cause`. */
export class RigError extends Error {
  override readonly name = 'RigError';

  constructor(
    message: string,
    readonly info: {
      /** True when the same request may succeed later (429, 5xx, connection). */
      readonly retryable: boolean;
      /** What the upstream asked to wait, in milliseconds. */
      readonly retryAfterMs?: number;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A tool as a rig and a client see it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the arguments object. */
  readonly parameters: JsonObject;
}

/** What a tool call may know and use. */
export interface ToolContext {
  readonly sessionId: string;
  readonly wallet: string | null;
  readonly userState: UserState | null;
  /** The values of the App's secret slots. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  /** Tells watchers how far it is; makes the call a multi-step one. */
  progress(message: string): void;
}

/** Something that the assistant can do. */
export interface Tool extends ToolDescription {
  /** `none` and `idempotent` may be run again after a crash; `yes` never is. */
  readonly sideEffects: 'none' | 'idempotent' | 'yes';
  /** How long a call may take in milliseconds; null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs: number | null;
  /** @throws any error: it is told to the rig and shown; its message must be fit for the user */
  run(args: JsonObject, context: ToolContext): Promise<JsonValue>;
}

/** Where tools come from. The list may change while the service runs: a tool server comes and goes. */
export interface ToolSource {
  /** The tools that there are now; the same array object as long as nothing changes. */
  list(): readonly Tool[];
}

/** Recognises what nobody should send to a tool. */
export interface SeedPhrases {
  /** True for a valid mnemonic of a wallet (BIP 39). */
  isSeedPhrase(text: string): boolean;
}

/** What a wallet signs to sign in (EIP-4361). Times are in milliseconds since the epoch. */
export interface SignInMessage {
  /** The site that asked for it: `host` or `host:port`, in lower case. */
  readonly domain: string;
  /** Whether the URI is one of that site, and it and the scheme, if there is one, are `https`, or `http` on a loopback host. */
  readonly isOfSite: boolean;
  /** With the checksum of EIP-55. */
  readonly address: string;
  readonly nonce: string;
  readonly issuedAt: number;
  /** `-Infinity` when the message does not say. */
  readonly notBefore: number;
  /** `Infinity` when the message does not say. */
  readonly expiresAt: number;
}

/** Who signed: a key, whose address is its own on every chain, or a contract, whose address may belong to another one on another chain. */
export type WalletSigner = { readonly kind: 'key' } | { readonly kind: 'contract'; readonly chainId: number };

/** Knows the signatures of wallets. */
export interface WalletSignatures {
  /** Undefined for text that is no sign-in message. */
  read(message: string): SignInMessage | undefined;
  /**
   * Finds out who signed for the wallet that the message names. Undefined: nobody that counts.
   * @throws Error when the chain of a contract wallet does not answer
   */
  verify(message: string, signature: string): Promise<WalletSigner | undefined>;
}

/** Checks values against JSON Schemas. */
export interface Schemas {
  /** Returns a check that lists what is wrong with a value; empty: it fits. @throws Error when the schema itself is wrong */
  compile(schema: JsonObject): (value: JsonValue) => readonly Problem[];
}

/** The two things that the core needs of cryptography. */
export interface Digests {
  /** SHA-256 in lower-case hex. */
  sha256(text: string): string;
  /** Compares in constant time. */
  equal(a: string, b: string): boolean;
}

/** Time and chance, passed in so that a test can hold them. */
export interface Clock {
  /**
   * The wall clock, in milliseconds since the epoch. For times that are stored, shown or compared with such times. An administrator
   * or NTP may set it forward or back at any moment, so the difference of two readings is not a length of time.
   */
  now(): number;
  /**
   * The steady clock, in milliseconds since some moment of this process. For ages, timeouts and every other length of time: it only
   * goes forward, and at the pace of real time. Its readings mean nothing to another process.
   */
  monotonic(): number;
  /** A new unique id: a UUID. */
  newId(): string;
}

/** A structured log. No message text, user state, full session id, key or secret may be among the fields. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
