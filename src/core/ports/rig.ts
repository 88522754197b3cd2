import type { ToolCall, ToolResult } from '../model/message.js';
import type { Usage } from '../model/turn.js';
import type { ToolDescription } from './tool.js';

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
   * Asks the model once. Resolves after the last part. Aborting `signal` closes the upstream connection at once and
   * rejects with its reason.
   * @param take gets each part the moment it comes, without a promise for each token; must not throw
   * @throws RigError
   */
  respond(request: RigRequest, signal: AbortSignal, take: (part: RigPart) => void): Promise<void>;
  /** Tries the endpoint without cost. @throws RigError in words for the operator */
  check(signal: AbortSignal): Promise<void>;
}

/**
 * A rig failed. `message` is for the user: what happened and what to do, no key, no URL, no stack; the rest is in
 * `cause`.
 */
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
