import type { Problem } from '../model/refusal.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { UserState } from '../model/user-state.js';

/** A tool as a rig and a client see it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the arguments object. */
  readonly parameters: JsonObject;
}

/** What a tool call may know and use. */
export interface ToolContext {
  readonly sessionId: string;
  readonly wallet: string | null;
  readonly userState: UserState | null;
  /** The values of the App's secret slots. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  /** Tells watchers how far it is; makes the call a multi-step one. */
  progress(message: string): void;
}

/** Something that the assistant can do. */
export interface Tool extends ToolDescription {
  /** `none` and `idempotent` may be run again after a crash; `yes` never is. */
  readonly sideEffects: 'none' | 'idempotent' | 'yes';
  /** How long a call may take in milliseconds; null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs: number | null;
  /** @throws any error: it is told to the rig and shown; its message must be fit for the user */
  run(args: JsonObject, context: ToolContext): Promise<JsonValue>;
}

/** Where tools come from. The list may change while the service runs: a tool server comes and goes. */
export interface ToolSource {
  /** The tools that there are now; the same array object as long as nothing changes. */
  list(): readonly Tool[];
}

/** Checks values against JSON Schemas. */
export interface Schemas {
  /**
   * Returns a check that lists what is wrong with a value; empty: it fits. @throws Error when the schema itself is
   * wrong
   */
  compile(schema: JsonObject): (value: JsonValue) => readonly Problem[];
}

/** Recognises what nobody should send to a tool. */
export interface SeedPhrases {
  /** True for a valid mnemonic of a wallet (BIP 39). */
  isSeedPhrase(text: string): boolean;
}
