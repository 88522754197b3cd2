import type { App } from '../../core/model/app.js';
import type { JsonObject } from '../../core/model/json.js';
import type { ThreadSummary } from '../../core/model/session.js';
import type { TurnSummary } from '../../core/model/turn.js';
import type { Dialect } from '../../http/response/errors.js';
import { CURRENT_KEY_HEADER } from '../shared/app-key.js';
import { errorShape } from '../shared/shapes.js';

/** Errors have the format `{error, code, request_id, details?}`. */
export const currentDialect: Dialect = {
  name: 'current',
  keyHeader: CURRENT_KEY_HEADER,
  error: errorShape,
};

/** A thread. */
export function thread({ id, title }: Pick<ThreadSummary, 'id' | 'title'>): JsonObject {
  return { session_id: id, title };
}

/** An App descriptor. `secrets` is present only if slots are declared, `prompts` only if some are configured. */
export function appDescriptor({ name, secrets, prompts }: App): JsonObject {
  const slots = secrets.map((slot) => ({
    name: slot.name,
    description: slot.description,
    required: slot.required,
  }));
  return {
    name,
    ...(slots.length > 0 && { secrets: slots }),
    ...(prompts !== null && { prompts: [...prompts] }),
  };
}

/** How a turn went. `rig`, the tokens and `ended_at` are those of an ended turn. */
export function turnSummary({
  id,
  app,
  status,
  rig,
  usage,
  error,
  createdAt,
  endedAt,
}: TurnSummary): JsonObject {
  return {
    turn_id: id,
    app,
    status,
    rig,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    error,
    created_at: new Date(createdAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}
