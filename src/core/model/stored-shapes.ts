/**
 * Type guards for JSON that was read from a store or received from the shared bus.
 */
import type { EventBody } from './event.js';
import { isJsonObject } from './json.js';
import type { ToolCall, ToolResult } from './message.js';

export function isEventBody(value: unknown): value is EventBody {
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
        value.result !== undefined &&
        (value.multiStep === undefined || typeof value.multiStep === 'boolean')
      );
    default:
      return false;
  }
}

export function isToolCall(value: unknown): value is ToolCall {
  return isJsonObject(value) && areTexts(value.callId, value.name) && isJsonObject(value.args);
}

export function isToolResult(value: unknown): value is ToolResult {
  if (!isJsonObject(value) || !areTexts(value.callId, value.name)) return false;
  const { failed, multiStep, result } = value;
  return typeof failed === 'boolean' && typeof multiStep === 'boolean' && result !== undefined;
}

export function isDurations(value: unknown): value is Readonly<Record<string, number>> {
  return isJsonObject(value) && areNumbers(...Object.values(value));
}

export function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

export function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number');
}

export function isListOf<T>(value: unknown, fits: (item: unknown) => item is T): value is readonly T[] {
  return Array.isArray(value) && value.every(fits);
}
