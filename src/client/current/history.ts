import { isObject, objectsIn, textOf, textOrNull } from '../json.js';
import type {
  HistoryCall,
  HistoryMessage,
  HistoryPage,
  HistoryTurn,
  JsonObject,
  JsonValue,
} from '../types.js';

/** Reads a page of stored messages from a response body. */
export function historyPageOf(body: JsonObject): HistoryPage {
  return {
    messages: objectsIn(body.messages).map(messageOf),
    turns: objectsIn(body.turns).map(turnOf),
    hasMore: body.has_more === true,
  };
}

function messageOf(record: JsonObject): HistoryMessage {
  const role = textOf(record, 'role');
  const results = new Map(
    objectsIn(record.tool_results).map((result) => [textOf(result, 'call_id'), result]),
  );
  return {
    id: textOf(record, 'id'),
    turnId: textOf(record, 'turn_id'),
    role: role === 'user' || role === 'system' ? role : 'assistant',
    content: textOf(record, 'content'),
    toolCalls: objectsIn(record.tool_calls).map((call) => callOf(call, results.get(textOf(call, 'call_id')))),
    createdAt: textOf(record, 'created_at'),
  };
}

function callOf(call: JsonObject, result: JsonObject | undefined): HistoryCall {
  return {
    ...{ callId: textOf(call, 'call_id'), name: textOf(call, 'name') },
    args: isObject(call.args) ? call.args : {},
    result: result === undefined ? null : resultText(result.result ?? null),
    failed: result?.status === 'failed',
  };
}

const STATUSES = ['queued', 'running', 'interrupted', 'failed'] as const;

function turnOf(turn: JsonObject): HistoryTurn {
  return {
    turnId: textOf(turn, 'turn_id'),
    status: STATUSES.find((status) => status === turn.status) ?? 'complete',
    rig: textOrNull(turn.rig),
    inputTokens: typeof turn.input_tokens === 'number' ? turn.input_tokens : 0,
    outputTokens: typeof turn.output_tokens === 'number' ? turn.output_tokens : 0,
    error: textOrNull(turn.error),
    createdAt: textOf(turn, 'created_at'),
    endedAt: textOrNull(turn.ended_at),
  };
}

function resultText(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}
