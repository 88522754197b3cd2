import type { Problem } from '../model/refusal.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import type { TurnClaim } from '../model/turn.js';
import type { UserState } from '../model/user-state.js';

/** The part of a tool that rigs and clients see. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the arguments object. */
  readonly parameters: JsonObject;
}

/** Marks an argument as a hash: otherwise the service takes 32 bytes in hex for a private key. */
export const HASH_PATTERN = '^0x[0-9a-fA-F]{64}$';
const HASH: JsonObject = { type: 'string', pattern: HASH_PATTERN };

/**
 * Returns a schema for any JSON value, which may be or hold hashes, for arguments whose type only a signature determines.
 * Lists the types explicitly, and gives each array its `items`, because some model providers refuse a schema without.
 * @param depth how deep arrays may be nested
 */
export function anyValue(depth: number): JsonObject {
  const plain = ['string', 'number', 'boolean'].map((type) => ({ type }));
  const kinds: readonly JsonObject[] = [...plain, HASH, anyObject(0)];
  return { anyOf: depth === 0 ? kinds : [...kinds, { type: 'array', items: anyValue(depth - 1) }] };
}

/**
 * Returns a schema for any object, whose fields may be hashes.
 * @param depth how many levels of objects and arrays below its fields may hold hashes, too
 */
export function anyObject(depth: number): JsonObject {
  return { type: 'object', additionalProperties: anything(depth) };
}

/** The empty schema keeps the others from restricting values: they only mark the places of hashes. */
function anything(depth: number): JsonObject {
  if (depth === 0) return { anyOf: [{}, HASH] };
  return { anyOf: [{}, HASH, anyObject(depth - 1), { type: 'array', items: anything(depth - 1) }] };
}

/** The context of a tool call. */
export interface ToolContext {
  readonly sessionId: string;
  /** Identifies the call: a call that is repeated after a crash has the same id. */
  readonly callId: string;
  /** The attempt at the turn that makes the call; null: a client calls the tool. */
  readonly turn: TurnClaim | null;
  /** The name of the App. */
  readonly app: string;
  readonly wallet: string | null;
  readonly userState: UserState | null;
  /** The values of the App's secrets, by name. `get` throws for a value that cannot be decrypted. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  /** Reports progress to subscribers and marks the call as multi-step. */
  progress(message: string): void;
}

/** A tool that the assistant can call. */
export interface Tool extends ToolDescription {
  /** After a crash, a call may be repeated with `none` and `idempotent`, never with `yes`. */
  readonly sideEffects: 'none' | 'idempotent' | 'yes';
  /** True: the tool is offered only in Apps that may ask wallets, and only to sessions that have a wallet. */
  readonly needsWallet?: boolean;
  /** The timeout of a call in milliseconds; null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs: number | null;
  /** @throws any error; its message goes to the rig and to the user, unless it is internal, see `isInternalError` */
  run(args: JsonObject, context: ToolContext): Promise<JsonValue>;
}

/** Names of errors that no tool throws for people to read. */
const INTERNAL = new Set([
  ...['StoreUnavailableError', 'StoreError', 'SqliteError', 'SchemaVersionError'],
  ...['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError', 'EvalError', 'AssertionError'],
]);

/** True for an error of the store or of JavaScript itself, whose message may show internals of the service. */
export function isInternalError(error: unknown): boolean {
  return error instanceof Error && INTERNAL.has(error.name);
}

/** A source of tools. The list can change while the service runs, as tool servers connect and disconnect. */
export interface ToolSource {
  /** Returns the current tools: the same array object as long as nothing changes. */
  list(): readonly Tool[];
}

/** Validates values against JSON Schemas. */
export interface Schemas {
  /**
   * Compiles a schema to a function that lists the problems of a value; an empty list: the value is valid.
   * @throws Error if the schema is invalid
   */
  compile(schema: JsonObject): (value: JsonValue) => readonly Problem[];
}

/** Detects seed phrases, which must not be sent to a tool. */
export interface SeedPhrases {
  /**
   * Starts a search through the texts of one request, which share a bound on the work. The returned function is true
   * for a text that contains a valid BIP 39 mnemonic, and for one with more words of the list than the bound allows.
   */
  startSearch(): (text: string) => boolean;
}
