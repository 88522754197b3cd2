import type { ToolCall, ToolResult } from '../model/message.js';
import type { Usage } from '../model/turn.js';
import type { ToolDescription } from './tool.js';

/** One message of the history in a model request. */
export type PromptMessage =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls: readonly ToolCall[];
      /** One result for each call, in any order. */
      readonly toolResults: readonly ToolResult[];
    };

/** A model request. */
export interface RigRequest {
  /** `title`: the response should be a title for the conversation, a few words only. */
  readonly purpose: 'answer' | 'title';
  readonly instructions: string;
  /**
   * For an answer, the history: it ends with a user message or tool results. For a title, excerpts of the conversation,
   * as material: it ends with what the assistant said, and the rig must not send it as a dialog to continue.
   */
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolDescription[];
  /** Absent: the request belongs to no session. */
  readonly sessionId?: string;
  /** The client's own key for the provider; absent: the configured one. */
  readonly apiKey?: string;
}

/** A part of a streamed model response. The last part is `end`. */
export type RigPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  | { readonly type: 'end'; readonly usage: Usage };

/** A model that can be selected. */
export interface Rig {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** The context window: how many tokens a request and its response may have together. */
  readonly contextTokens: number;
  /** How many tokens a response may have; absent: the provider's limit. */
  readonly maxOutputTokens?: number;
  /**
   * Sends one request to the model and streams the response. Resolves after the last part.
   * @param signal closes the upstream connection; the promise then rejects with the signal's reason
   * @param take receives each part synchronously, because a promise per token would be too slow; must not throw
   * @throws RigError
   */
  respond(request: RigRequest, signal: AbortSignal, take: (part: RigPart) => void): Promise<void>;
  /**
   * Estimates the tokens that `respond` sends along with a tool call of the history, such as the reasoning that led to
   * it. Excludes the call itself.
   * @param isPast true if a user message follows the call
   */
  attachedTokens(sessionId: string, callId: string, isPast: boolean): number;
  /**
   * Checks the endpoint without a billed request, or with `ask` by a small request with a tool.
   * @returns a warning for the operator, if there is one
   * @throws RigError with a message for the operator
   */
  check(signal: AbortSignal, options?: { readonly ask?: boolean }): Promise<string | undefined>;
}

/**
 * A model request failed. `message` is for the user: what happened and what to do, without keys, URLs or stacks. The
 * details are in `cause`.
 */
export class RigError extends Error {
  override readonly name = 'RigError';
  /**
   * Why it failed, for the operator alone: the status, the code and the words of the provider. One line of bounded length
   * without credentials.
   */
  readonly reason: string | undefined;

  constructor(
    message: string,
    readonly info: {
      /** True if a retry may succeed (429, 5xx, connection errors). */
      readonly retryable: boolean;
      /** How long the upstream asked to wait, in milliseconds. */
      readonly retryAfterMs?: number;
    },
    { reason, ...options }: ErrorOptions & { readonly reason?: string } = {},
  ) {
    super(message, options);
    this.reason = reason;
  }
}
