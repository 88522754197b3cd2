/** JSON shapes that several surfaces show in the same way. */
import type { JsonObject } from '../../core/model/json.js';
import type { Message, ToolResult } from '../../core/model/message.js';
import type { ThreadSummary } from '../../core/model/session.js';
import type { ToolDescription } from '../../core/ports/tool.js';
import type { Invocation } from '../../core/tools/direct-calls.js';
import type { Failure } from '../../http/response/errors.js';

/** An error as `{error, code, request_id, details?}`. */
export function errorShape({ message, code, details }: Failure, requestId: string): JsonObject {
  const shown = details.map((problem) => ({ path: problem.path, message: problem.message }));
  return { error: message, code, request_id: requestId, ...(shown.length > 0 ? { details: shown } : {}) };
}

/** Whether a thread is archived. */
export function archived({ id, archived: isArchived }: ThreadSummary): JsonObject {
  return { session_id: id, is_archived: isArchived };
}

/** An entry of `tool_results`. `status` is present only if the call failed. */
function toolResult({ callId, name, result, failed }: ToolResult): JsonObject {
  return { call_id: callId, name, result, ...(failed && { status: 'failed' }) };
}

/** A persisted record with exactly the documented fields. */
export function record(sessionId: string, message: Message): JsonObject {
  return {
    id: message.id,
    session_id: sessionId,
    thread_id: sessionId,
    role: message.role,
    content: message.content,
    tool_calls: message.toolCalls?.map(({ callId, name, args }) => ({ call_id: callId, name, args })) ?? null,
    tool_results: message.toolResults?.map(toolResult) ?? null,
    created_at: new Date(message.createdAt).toISOString(),
  };
}

/** The result of a model selection. `baml` is the value of the request, or equals `rig`. */
export function selection(rig: string, baml: string | undefined, created: boolean): JsonObject {
  return { success: true, rig, baml: baml ?? rig, created };
}

/** A tool as `GET /api/tools` lists it. */
export function tool({ name, description, parameters }: ToolDescription): JsonObject {
  return { name, description, parameters };
}

/** The outcome of `POST /api/tools`: a `result`, or the tool's error as `error`. */
export function invocation({ callId, name, ...outcome }: Invocation): JsonObject {
  return { call_id: callId, name, ...outcome };
}
