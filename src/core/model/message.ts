import type { JsonObject, JsonValue } from './json.js';

/** A tool call by the assistant. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** Empty if `problem` is set. */
  readonly args: JsonObject;
  /** Why the call cannot run, as a message for the model: its arguments were not a JSON object. */
  readonly problem?: string;
  /** True once the tool has reported progress. Stored, so that another process can end the call correctly. */
  readonly multiStep?: boolean;
}

/** The result of a tool call. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  /** The value that the tool returned, or a message that says why there is none. */
  readonly result: JsonValue;
  readonly failed: boolean;
  /** True if the tool reported progress. */
  readonly multiStep: boolean;
  /**
   * When the result arrived, in milliseconds since the epoch. Absent in records of earlier versions: use the record's
   * time instead.
   */
  readonly at?: number;
}

/**
 * One record of a thread. An assistant's record is one step of a turn: its text, its tool calls, and their results.
 * Records are ordered by (`turnNo`, `position`).
 */
export interface Message {
  readonly id: string;
  readonly turnId: string;
  readonly turnNo: number;
  readonly position: number;
  readonly role: 'user' | 'assistant' | 'system';
  /**
   * `wallet`: a `system` record in which the service states the outcome of wallet requests. Only these system records
   * reach the rig.
   */
  readonly origin?: 'wallet';
  readonly content: string;
  readonly toolCalls: readonly ToolCall[] | null;
  readonly toolResults: readonly ToolResult[] | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The result of a call that was cancelled before it returned. */
export const INTERRUPTED_RESULT = 'interrupted';

/** The result of a call whose process died while it ran: the call may or may not have taken effect. */
export const UNKNOWN_OUTCOME_RESULT = 'outcome unknown';

/** Converts a tool's value to text: a string stays unchanged, anything else becomes JSON. */
export function resultText(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** Returns the size of a record in bytes of UTF-8: its content, and its calls and results as JSON. */
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

/** How many messages of a snapshot a record maps to: one for its text, if any, and one for each tool result. */
export function shownCount({
  role,
  content,
  toolResults,
}: Pick<Message, 'role' | 'content' | 'toolResults'>): number {
  return (content !== '' || role !== 'assistant' ? 1 : 0) + (toolResults?.length ?? 0);
}

/** How many messages of a snapshot these records map to. */
export function shownIn(records: readonly Message[]): number {
  return records.reduce((sum, record) => sum + shownCount(record), 0);
}

/**
 * True for the record that states why its turn failed: the only `system` record that is neither the first of its turn
 * nor about a wallet.
 */
export function isFailure({
  role,
  position,
  origin,
}: Pick<Message, 'role' | 'position' | 'origin'>): boolean {
  return role === 'system' && position > 0 && origin === undefined;
}

/** How many of these records state why their turn failed. */
export function failuresIn(records: readonly Message[]): number {
  return records.filter((record) => isFailure(record)).length;
}

/** Returns the record with a call marked as having reported progress. */
export function withProgress(message: Message, callId: string): Message {
  const toolCalls = message.toolCalls?.map((call) =>
    call.callId === callId ? { ...call, multiStep: true } : call,
  );
  return { ...message, toolCalls: toolCalls ?? null };
}

/** Returns the calls of a record that have no result. */
export function danglingCalls(message: Message): readonly ToolCall[] {
  if (message.toolCalls === null) return [];
  const answered = new Set(message.toolResults?.map((result) => result.callId));
  return message.toolCalls.filter((call) => !answered.has(call.callId));
}

/**
 * Returns the record with `words` as the result of every dangling call.
 * @param at the time of the results, in milliseconds since the epoch; absent: the record is only for a rig
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

/** Returns the length of the assistant's text in these records, in UTF-16 units. */
export function textLength(records: readonly Message[]): number {
  let length = 0;
  for (const { role, content } of records) if (role === 'assistant') length += content.length;
  return length;
}

/** Compares records by their order in the thread. */
export function byOrder(a: Message, b: Message): number {
  return a.turnNo - b.turnNo || a.position - b.position;
}
