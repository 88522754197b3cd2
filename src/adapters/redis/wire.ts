import type { EventBody, Signal } from '../../core/model/event.js';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import type { ToolCall, ToolResult } from '../../core/model/message.js';

/** Said in place of a signal that was not carried: there is something in the store. */
export interface Missed {
  readonly type: 'missed';
}

export type Carried = Signal | Missed;

/** Signals on their way to other nodes: first the name of the node that sent them, of a fixed length, then a JSON array. */
export function encode(node: string, entries: readonly string[]): string {
  return `${node}[${entries.join(',')}]`;
}

/** What another node sent; undefined when it is nothing that this program understands. */
export function decode(node: string, text: string): Carried[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text.slice(node.length));
  } catch {
    return undefined;
  }
  return isListOf(list, isCarried) ? [...list] : undefined;
}

function isCarried(value: unknown): value is Carried {
  if (!isJsonObject(value)) return false;
  switch (value.type) {
    case 'logged':
      return (
        isJsonObject(value.event) && areNumbers(value.event.id, value.event.at) && isBody(value.event.body)
      );
    case 'turn_started':
      return areTexts(value.turnId) && areNumbers(value.attempt);
    case 'text':
      return (
        areTexts(value.turnId, value.content) &&
        areNumbers(value.attempt, value.position, value.offset, value.before)
      );
    case 'tool_called':
      return (
        areTexts(value.turnId) &&
        isCall(value.call) &&
        areNumbers(value.attempt, value.position, value.length, value.count)
      );
    case 'tool_returned':
      return areTexts(value.turnId) && isResult(value.result);
    case 'turn_ended':
      return areTexts(value.turnId) && isOutcome(value.outcome) && isNullable(value.error);
    case 'session_changed':
      return areNumbers(value.revision);
    case 'interrupt':
      return areTexts(value.turnId);
    case 'session_deleted':
    case 'missed':
      return true;
    default:
      return false;
  }
}

function isBody(value: unknown): value is EventBody {
  if (!isJsonObject(value)) return false;
  switch (value.type) {
    case 'title_changed':
      return areTexts(value.title);
    case 'system_notice':
      return areTexts(value.message);
    case 'tool_update':
      return (
        areTexts(value.callId, value.toolName) && (value.message === undefined || areTexts(value.message))
      );
    case 'tool_complete':
      return (
        areTexts(value.callId, value.toolName) &&
        typeof value.failed === 'boolean' &&
        isThere(value, 'result')
      );
    default:
      return false;
  }
}

function isCall(value: unknown): value is ToolCall {
  return isJsonObject(value) && areTexts(value.callId, value.name) && isJsonObject(value.args);
}

function isResult(value: unknown): value is ToolResult {
  if (!isJsonObject(value) || !areTexts(value.callId, value.name)) return false;
  return (
    typeof value.failed === 'boolean' && typeof value.multiStep === 'boolean' && isThere(value, 'result')
  );
}

function isOutcome(value: unknown): boolean {
  return value === 'complete' || value === 'interrupted' || value === 'failed';
}

function isThere(object: JsonObject, name: string): boolean {
  return object[name] !== undefined;
}

function isNullable(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number');
}

function isListOf<T>(value: unknown, fits: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(fits);
}
