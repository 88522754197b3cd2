import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Tool, ToolContext } from '../../../core/ports/tool.js';

/** What a call may know and use. */
export interface ModuleContext extends Omit<ToolContext, 'userState'> {
  /** The synced user state as `GET /api/state` shows it; null: none was sent yet. */
  readonly userState: JsonObject | null;
}

/** A tool as an operator's module exports it: `export const tool = {…}` or `export const tools = [{…}, …]`. */
export interface ToolDefinition {
  /** 1 to 64 letters, digits, dashes or underscores. */
  readonly name: string;
  /** What it does and when to call it, for the model. */
  readonly description: string;
  /** A JSON Schema of the arguments, `type: 'object'` at its root. Arguments are checked against it before `run`. */
  readonly parameters: JsonObject;
  /** What a repetition does. After a crash `none` and `idempotent` may run again; `yes` never does. */
  readonly sideEffects: Tool['sideEffects'];
  /** How long a call may take in milliseconds; absent or null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs?: number | null;
  /**
   * Does it. The result is anything that JSON can carry; undefined counts as null.
   * @throws any error: its message is shown to the model and to the user
   */
  run(args: JsonObject, context: ModuleContext): JsonValue | undefined | Promise<JsonValue | undefined>;
}
