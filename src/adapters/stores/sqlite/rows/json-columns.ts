import { isJsonObject } from '../../../../core/model/json.js';
import type { EventBody } from '../../../../core/model/event.js';
import type { ToolCall, ToolResult } from '../../../../core/model/message.js';
import { isEventBody, isListOf, isToolCall, isToolResult } from '../../../../core/model/stored-shapes.js';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import type { UserState } from '../../../../core/model/user-state.js';

/** Parses a JSON column. @throws StoreUnavailableError when it does not have the expected shape: the file is damaged */
function parse<T>(text: string, what: string, fits: (value: unknown) => value is T): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StoreUnavailableError(`the database is damaged: ${what} is not JSON`, { cause: error });
  }
  if (fits(value)) return value;
  throw new StoreUnavailableError(`the database is damaged: ${what} does not have the expected shape`);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseUserState(text: string): UserState {
  return parse(text, 'a user state', isUserState);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseToolCalls(text: string): readonly ToolCall[] {
  return parse(text, 'a list of tool calls', (value) => isListOf(value, isToolCall));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseToolResults(text: string): readonly ToolResult[] {
  return parse(text, 'a list of tool results', (value) => isListOf(value, isToolResult));
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseEventBody(text: string): EventBody {
  return parse(text, 'an event', isEventBody);
}

/** @throws StoreUnavailableError when the file is damaged */
export function parseApps(text: string): readonly string[] {
  return parse(text, 'a list of Apps', (value) => isListOf(value, (item) => typeof item === 'string'));
}

function isUserState(value: unknown): value is UserState {
  return isJsonObject(value) && isJsonObject(value.tree) && typeof value.flat === 'boolean';
}
