import type { Signal } from '../../../core/model/event.js';
import { isJsonObject } from '../../../core/model/json.js';
import {
  areNumbers,
  areTexts,
  isEventBody,
  isListOf,
  isToolCall,
  isToolResult,
} from '../../../core/model/stored-shapes.js';

/** Replaces a signal that was too large or was dropped: the receiver must read the store. */
export interface Missed {
  readonly type: 'missed';
}

export type Carried = Signal | Missed;

/** Returns the channel that every node subscribes to, and the prefix of the channels of sessions. */
export function channelsOf(prefix: string): { readonly everybody: string; readonly session: string } {
  return { everybody: `${prefix}:everybody`, session: `${prefix}:session:` };
}

/** Encodes signals for other nodes: the id of the sending node, which has a fixed length, followed by a JSON array. */
export function encode(node: string, entries: readonly string[]): string {
  return `${node}[${entries.join(',')}]`;
}

/**
 * Decodes a message from another node; undefined when it is malformed.
 * @param node any node's id: only its length is used
 */
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
        isJsonObject(value.event) &&
        areNumbers(value.event.id, value.event.at) &&
        isEventBody(value.event.body)
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
        isToolCall(value.call) &&
        areNumbers(value.attempt, value.position, value.length, value.count)
      );
    case 'tool_returned':
      return areTexts(value.turnId) && isToolResult(value.result);
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

function isOutcome(value: unknown): boolean {
  return value === 'complete' || value === 'interrupted' || value === 'failed';
}

function isNullable(value: unknown): boolean {
  return value === null || typeof value === 'string';
}
