import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import type { SystemEvent } from '../../core/model/event.js';
import type { SystemMessage } from '../../core/model/send-request.js';

/** An entry of `system_events`: `{"SystemError": text}`, or `{"InlineCall": {type, payload}}`. */
export function systemEvent({ kind, text }: Pick<SystemEvent, 'kind' | 'text'>): JsonObject {
  return { [kind]: kind === 'InlineCall' ? objectOf(text) : text };
}

/** The response of `POST /api/system`. */
export function systemMessage({ content, at }: SystemMessage): JsonObject {
  const timestamp = new Date(at).toISOString();
  return { res: { sender: 'system', content, timestamp, is_streaming: false, tool_result: null } };
}

function objectOf(json: string): JsonObject {
  const parsed: unknown = JSON.parse(json);
  if (!isJsonObject(parsed)) throw new TypeError('an InlineCall is not an object');
  return parsed;
}
