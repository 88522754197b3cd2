import type { JsonObject, JsonValue } from './json.js';

/** A call that the assistant makes of a tool. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** What a tool call came to. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  /** The tool's own value, or the words that say why there is none. */
  readonly result: JsonValue;
  readonly failed: boolean;
  /** True when the tool reported progress on its way. */
  readonly multiStep: boolean;
}

/**
 * One record of a thread (§2.4). An assistant's record is one step of a turn: what it said, the tools it
 * called, and their results. Records are ordered by (`turnNo`, `position`): all of a turn before all of the next.
 */
export interface Message {
  readonly id: string;
  readonly turnId: string;
  readonly turnNo: number;
  readonly position: number;
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  readonly toolCalls: readonly ToolCall[] | null;
  readonly toolResults: readonly ToolResult[] | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The result of a call that was cancelled before it had one. */
export const INTERRUPTED_RESULT = 'interrupted';

/** The result of a call whose process died while it ran: it may or may not have happened. */
export const UNKNOWN_OUTCOME_RESULT = 'outcome unknown';

/** A tool's value as text: a string as it is, anything else as JSON. */
export function resultText(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** The calls of a record that have no result yet. */
export function danglingCalls(message: Message): readonly ToolCall[] {
  if (message.toolCalls === null) return [];
  const answered = new Set(message.toolResults?.map((result) => result.callId));
  return message.toolCalls.filter((call) => !answered.has(call.callId));
}

/** The record with every dangling call answered by the same words. */
export function closeCalls(message: Message, words: string): Message {
  const open = danglingCalls(message);
  if (open.length === 0) return message;
  const closed = open.map(({ callId, name }) => ({
    callId,
    name,
    result: words,
    failed: true,
    multiStep: false,
  }));
  return { ...message, toolResults: [...(message.toolResults ?? []), ...closed] };
}

/** In the order of a thread. */
export function byOrder(a: Message, b: Message): number {
  return a.turnNo - b.turnNo || a.position - b.position;
}
