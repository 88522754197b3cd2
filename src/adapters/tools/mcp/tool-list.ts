import { setImmediate } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../../core/model/json.js';
import type { Log } from '../../../core/ports/log.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Tool, ToolDescription } from '../../../core/ports/tool.js';
import { bounded } from './failure.js';

const MAX_TOOLS = 200;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 2_000;
/** In characters of JSON: every request to a model has the schemas of all tools. */
const MAX_SCHEMA = 65_536;
/** How long the schemas of one list may take to compile, in milliseconds. */
const MAX_COMPILE_MS = 5_000;
/** How many tools that are left out are logged one by one: a list can have very many. */
const MAX_LOGGED = 20;

/** A valid tool from a server's list. */
export interface ListedTool extends ToolDescription {
  /** The tool's name at its server; `name` is the sanitized `server.tool`. */
  readonly remoteName: string;
  readonly sideEffects: Tool['sideEffects'];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a server's tool list, a tool in each iteration of the event loop, because compiling a schema takes time. Skips
 * invalid tools and logs a warning for each of the first 20, then one for all others.
 */
export async function readToolList(
  list: readonly unknown[],
  parts: {
    readonly server: string;
    /** The default for tools that declare no hints. */
    readonly sideEffects: Tool['sideEffects'];
    readonly schemas: Schemas;
    readonly log: Log;
  },
): Promise<readonly ListedTool[]> {
  const { server, log } = parts;
  const tools = new Map<string, ListedTool>();
  let spentMs = 0;
  let unfit = 0;
  const leaveOut = (facts: Fields): void => {
    if (++unfit <= MAX_LOGGED) log.warn({ server, ...facts }, 'tool server: tool left out');
  };
  for (const [index, given] of list.entries()) {
    if (index > 0) await setImmediate();
    if (spentMs > MAX_COMPILE_MS) {
      const problem = `the schemas of its tools take longer than ${String(MAX_COMPILE_MS / 1000)} s to compile`;
      log.warn({ server, left: list.length - index, problem }, 'tool server: tools left out');
      break;
    }
    const before = performance.now();
    const read = readTool(given, parts);
    spentMs += performance.now() - before;
    const twin = 'problem' in read ? undefined : tools.get(read.name);
    if ('problem' in read) {
      const tool = isFields(given) ? describeName(given.name) : '(unnamed)';
      leaveOut({ tool, err: read.cause, problem: read.problem });
    } else if (twin !== undefined) {
      const problem = `its name becomes ${read.name}, like that of another tool`;
      leaveOut({ tool: describeName(read.remoteName), problem });
    } else if (tools.size >= MAX_TOOLS) {
      const problem = `a server may have at most ${String(MAX_TOOLS)} tools`;
      log.warn({ server, left: list.length - MAX_TOOLS, problem }, 'tool server: tools left out');
      break;
    } else {
      tools.set(read.name, read);
    }
  }
  if (unfit > MAX_LOGGED) {
    const problem = `more than ${String(MAX_LOGGED)} tools are left out`;
    log.warn({ server, left: unfit - MAX_LOGGED, problem }, 'tool server: tools left out');
  }
  return [...tools.values()];
}

interface Unfit {
  readonly problem: string;
  readonly cause?: unknown;
}

function readTool(
  given: unknown,
  parts: { server: string; sideEffects: Tool['sideEffects']; schemas: Schemas },
): ListedTool | Unfit {
  if (!isFields(given)) return { problem: 'it is not an object' };
  const { name: remoteName, inputSchema, execution } = given;
  if (typeof remoteName !== 'string' || remoteName.trim() === '') return { problem: 'it has no name' };
  if (isFields(execution) && execution.taskSupport === 'required') {
    return { problem: 'it can only be called as a task' };
  }
  if (!isJsonObject(inputSchema)) return { problem: 'it has no schema for its arguments' };
  if (inputSchema.type !== 'object') return { problem: "its schema's type is not object" };
  const parameters = withProperties(inputSchema);
  if (JSON.stringify(parameters).length > MAX_SCHEMA) return { problem: 'its schema is larger than 64 KiB' };
  try {
    parts.schemas.compile(parameters);
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : 'its schema is invalid', cause };
  }
  return {
    name: toolName(parts.server, remoteName),
    remoteName,
    description: describe(given, remoteName),
    parameters,
    sideEffects: sideEffectsOf(given.annotations, parts.sideEffects),
  };
}

/** Builds `server.tool`; replaces characters other than letters, digits, dots, dashes and underscores. */
function toolName(server: string, remoteName: string): string {
  return `${server}.${remoteName.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`.slice(0, MAX_NAME);
}

/** Adds empty `properties` to a schema without any, because some models reject such schemas. */
function withProperties(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema : { ...schema, properties: {} };
}

function describe({ description, title, annotations }: Fields, name: string): string {
  const other = isFields(annotations) ? annotations.title : undefined;
  const text = [description, title, other].find((words) => typeof words === 'string' && words.trim() !== '');
  return bounded(typeof text === 'string' ? text.trim() : name, MAX_DESCRIPTION);
}

/** Trusts the server's hints, because the operator has chosen the server. */
function sideEffectsOf(annotations: unknown, fallback: Tool['sideEffects']): Tool['sideEffects'] {
  if (!isFields(annotations)) return fallback;
  const { readOnlyHint, idempotentHint } = annotations;
  if (readOnlyHint === true) return 'none';
  if (idempotentHint === true) return 'idempotent';
  return readOnlyHint === undefined && idempotentHint === undefined ? fallback : 'yes';
}

function describeName(name: unknown): string {
  return typeof name === 'string' ? bounded(name, 100) : '(unnamed)';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
