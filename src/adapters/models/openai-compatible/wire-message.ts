import type { JsonObject, JsonValue } from '../../../core/model/json.js';

/** A message in the format of chat completions. */
export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | AssistantMessage
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

/** Besides what follows it may have the reasoning fields that the server sent. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly SentCall[];
  readonly reasoning_content?: JsonValue;
  readonly reasoning_details?: JsonValue;
}

/** A tool call of the history. */
export interface SentCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
  readonly extra_content?: JsonObject;
}
