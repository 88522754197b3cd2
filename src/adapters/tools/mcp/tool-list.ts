import { isJsonObject, type JsonObject } from '../../../core/model/json.js';
import type { Log } from '../../../core/ports/log.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Tool, ToolDescription } from '../../../core/ports/tool.js';
import { bounded } from './failure.js';

const MAX_TOOLS = 200;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 2_000;

/** A tool that can be called. */
export interface ListedTool extends ToolDescription {
  /** What its server calls it; `name` is `server.tool`, cleaned. */
  readonly remoteName: string;
  readonly sideEffects: Tool['sideEffects'];
}

type Fields = Readonly<Record<string, unknown>>;

/** The tools of a server's list that can be called; each that cannot is left out, with a log line. */
export function readToolList(
  list: readonly unknown[],
  parts: {
    readonly server: string;
    /** What is assumed of tools that do not say so themselves. */
    readonly sideEffects: Tool['sideEffects'];
    readonly schemas: Schemas;
    readonly log: Log;
  },
): readonly ListedTool[] {
  const { server, log } = parts;
  const tools = new Map<string, ListedTool>();
  for (const given of list) {
    const read = readTool(given, parts);
    const twin = 'problem' in read ? undefined : tools.get(read.name);
    if ('problem' in read) {
      const tool = isFields(given) ? describeName(given.name) : '(unnamed)';
      log.warn({ server, tool, err: read.cause, problem: read.problem }, 'tool server: tool left out');
    } else if (twin !== undefined) {
      const problem = `its name comes to ${read.name}, as another's does`;
      log.warn({ server, tool: describeName(read.remoteName), problem }, 'tool server: tool left out');
    } else if (tools.size >= MAX_TOOLS) {
      const problem = `only ${String(MAX_TOOLS)} tools are taken`;
      log.warn({ server, left: list.length - MAX_TOOLS, problem }, 'tool server: tools left out');
      break;
    } else {
      tools.set(read.name, read);
    }
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
  if (!isFields(given)) return { problem: 'it is no object' };
  const { name: remoteName, inputSchema, execution } = given;
  if (typeof remoteName !== 'string' || remoteName.trim() === '') return { problem: 'it has no name' };
  if (isFields(execution) && execution.taskSupport === 'required') {
    return { problem: 'it can be called as a task only' };
  }
  if (!isJsonObject(inputSchema)) return { problem: 'it has no schema of its arguments' };
  if (inputSchema.type !== 'object') return { problem: 'its schema does not ask for an object' };
  const parameters = withProperties(inputSchema);
  try {
    parts.schemas.compile(parameters);
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : 'its schema is wrong', cause };
  }
  return {
    name: toolName(parts.server, remoteName),
    remoteName,
    description: describe(given, remoteName),
    parameters,
    sideEffects: sideEffectsOf(given.annotations, parts.sideEffects),
  };
}

/** `server.tool`, with what is no letter, digit, dot, dash or underscore replaced. */
function toolName(server: string, remoteName: string): string {
  return `${server}.${remoteName.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`.slice(0, MAX_NAME);
}

/** Some models refuse an object schema that has no `properties`. */
function withProperties(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema : { ...schema, properties: {} };
}

function describe({ description, title, annotations }: Fields, name: string): string {
  const other = isFields(annotations) ? annotations.title : undefined;
  const text = [description, title, other].find((words) => typeof words === 'string' && words.trim() !== '');
  return bounded(typeof text === 'string' ? text.trim() : name, MAX_DESCRIPTION);
}

/** Hints of a server that the operator has chosen are believed. */
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
