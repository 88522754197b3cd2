import type { App } from '../../core/model/app.js';
import type { SystemEvent } from '../../core/model/event.js';
import type { JsonObject } from '../../core/model/json.js';
import type { Message, ToolResult } from '../../core/model/message.js';
import type { ToolDescription } from '../../core/ports/tool.js';
import type { ThreadSummary } from '../../core/model/session.js';
import type { Snapshot } from '../../core/model/snapshot.js';
import type { Invocation } from '../../core/tools/direct-calls.js';
import { shownUserState } from '../../core/model/user-state.js';
import type { Dialect } from '../../http/response/errors.js';
import { encodeMessages } from '../shared/messages.js';

/** Errors have the format `{error, code, request_id, details?}`. */
export const currentDialect: Dialect = {
  name: 'current',
  error({ message, code, details }, requestId) {
    const shown = details.map((problem) => ({ path: problem.path, message: problem.message }));
    return { error: message, code, request_id: requestId, ...(shown.length > 0 ? { details: shown } : {}) };
  },
};

/** A session snapshot as JSON in pieces, and the number of messages in its thread. */
export interface SnapshotJson {
  readonly body: readonly Buffer[];
  readonly total: number;
}

const MESSAGES = Buffer.from('{"messages":[');

/**
 * Encodes a session snapshot, its fields in the documented order.
 * @param tail number of last messages to include; absent: all
 */
export function snapshotJson(snapshot: Snapshot, tail?: number): SnapshotJson {
  const { session, status, faults } = snapshot;
  const rest = {
    system_events: faults.texts.map((text) => ({ SystemError: text })),
    title: session.title,
    is_processing: status === 'processing',
    user_state: session.userState === null ? null : shownUserState(session.userState),
  };
  const end = `],${JSON.stringify(rest).slice(1)}`;
  const { json: body, total } = encodeMessages(snapshot, { start: MESSAGES, end }, tail);
  return { body, total };
}

/** A thread. */
export function thread({ id, title }: Pick<ThreadSummary, 'id' | 'title'>): JsonObject {
  return { session_id: id, title };
}

/** An entry of `tool_results`. `status` is present only if the call failed. */
export function toolResult({ callId, name, result, failed }: ToolResult): JsonObject {
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

/** An entry of `system_events`. */
export function systemEvent({ kind, text }: SystemEvent): JsonObject {
  return { [kind]: text };
}

/** An App descriptor. `secrets` is present only if slots are declared. */
export function appDescriptor({ name, secrets }: App): JsonObject {
  if (secrets.length === 0) return { name };
  const slots = secrets.map((slot) => ({
    name: slot.name,
    description: slot.description,
    required: slot.required,
  }));
  return { name, secrets: slots };
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
