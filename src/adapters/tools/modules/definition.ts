import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Tool, ToolContext } from '../../../core/ports/tool.js';

/** The context that the service passes to each call of a module's tool. */
export interface ModuleContext extends Omit<ToolContext, 'userState' | 'turn'> {
  /** The user state in the form that `GET /api/state` returns; null until a client has sent one. */
  readonly userState: JsonObject | null;
}

/** A tool as an operator's module exports it: `export const tool = {…}` or `export const tools = [{…}, …]`. */
export interface ToolDefinition {
  /** 1 to 64 letters, digits, dashes or underscores. */
  readonly name: string;
  /** What the tool does and when to call it, for the model. */
  readonly description: string;
  /** The JSON Schema of the arguments, with `type: 'object'` at its root. The service validates them before `run`. */
  readonly parameters: JsonObject;
  /** After a crash, the service may run a call again if this is `none` or `idempotent`, and never if it is `yes`. */
  readonly sideEffects: Tool['sideEffects'];
  /** Timeout of a call, in milliseconds. Absent or null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs?: number | null;
  /**
   * Executes the call. The result must be serializable as JSON; undefined becomes null.
   * @throws any error; the model and the user see its message
   */
  run(args: JsonObject, context: ModuleContext): JsonValue | undefined | Promise<JsonValue | undefined>;
}
