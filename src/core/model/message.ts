import type { JsonObject, JsonValue } from './json.js';

/** A call that the assistant makes of a tool. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** Empty where `problem` is set. */
  readonly args: JsonObject;
  /** Why the call cannot run, in words for the model: its arguments were no JSON object. Absent: it can. */
  readonly problem?: string;
  /** True once the tool has reported progress. Stored with the first report, so that whoever ends the call knows it. */
  readonly multiStep?: boolean;
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
  /**
   * When it came, in milliseconds since the epoch. Absent in records of earlier versions: the time of the record stands
   * for it.
   */
  readonly at?: number;
}

/**
 * One record of a thread. An assistant's record is one step of a turn: what it said, the tools it
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

/** How much text a record holds, in bytes of UTF-8: its content, and its calls and results as JSON. */
export function textBytes({
  content,
  toolCalls,
  toolResults,
}: Pick<Message, 'content' | 'toolCalls' | 'toolResults'>): number {
  return Buffer.byteLength(content) + jsonBytes(toolCalls) + jsonBytes(toolResults);
}

function jsonBytes(list: readonly object[] | null): number {
  return list === null ? 0 : Buffer.byteLength(JSON.stringify(list));
}

/** How many messages of a snapshot a record becomes: its text, if it has any, and one for each tool result. */
export function shownCount({
  role,
  content,
  toolResults,
}: Pick<Message, 'role' | 'content' | 'toolResults'>): number {
  return (content !== '' || role !== 'assistant' ? 1 : 0) + (toolResults?.length ?? 0);
}

/** The record after the tool of a call has reported progress. */
export function withProgress(message: Message, callId: string): Message {
  const toolCalls = message.toolCalls?.map((call) =>
    call.callId === callId ? { ...call, multiStep: true } : call,
  );
  return { ...message, toolCalls: toolCalls ?? null };
}

/** The calls of a record that have no result yet. */
export function danglingCalls(message: Message): readonly ToolCall[] {
  if (message.toolCalls === null) return [];
  const answered = new Set(message.toolResults?.map((result) => result.callId));
  return message.toolCalls.filter((call) => !answered.has(call.callId));
}

/**
 * The record with every dangling call answered by the same words.
 * @param at when, in milliseconds since the epoch; absent: only a rig reads them
 */
export function closeCalls(message: Message, words: string, at?: number): Message {
  const open = danglingCalls(message);
  if (open.length === 0) return message;
  const closed = open.map(({ callId, name, multiStep = false }) => ({
    ...{ callId, name, result: words, failed: true, multiStep },
    ...(at !== undefined && { at }),
  }));
  return { ...message, toolResults: [...(message.toolResults ?? []), ...closed] };
}

/** The length of the assistant's text in these records, in UTF-16 units. */
export function textLength(records: readonly Message[]): number {
  let length = 0;
  for (const { role, content } of records) if (role === 'assistant') length += content.length;
  return length;
}

/** In the order of a thread. */
export function byOrder(a: Message, b: Message): number {
  return a.turnNo - b.turnNo || a.position - b.position;
}
