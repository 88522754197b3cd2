import { isJsonObject } from '../../../core/model/json.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Problem } from '../../../core/model/refusal.js';
import type { ToolDefinition } from './definition.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_DESCRIPTION = 4_000;
const MAX_TIMEOUT = 2_147_483_647;
const FIELDS = ['name', 'description', 'parameters', 'sideEffects', 'timeoutMs', 'run'];
const SIDE_EFFECTS = ['none', 'idempotent', 'yes'];

/** Validates an exported tool. @returns one problem per invalid field; empty for a valid `ToolDefinition` */
export function toolProblems(value: unknown, schemas: Schemas): readonly Problem[] {
  if (!isObject(value))
    return [{ path: '', message: 'must be an object with name, description, parameters, …' }];
  const { name, description, parameters, sideEffects, timeoutMs, run } = value;
  const problems: (Problem | null)[] = [
    typeof name === 'string' && NAME.test(name)
      ? null
      : { path: 'name', message: 'must have 1 to 64 letters, digits, dashes or underscores' },
    describedWell(description)
      ? null
      : {
          path: 'description',
          message: `must say in 1 to ${String(MAX_DESCRIPTION)} characters what the tool does`,
        },
    parametersProblem(parameters, schemas),
    typeof sideEffects === 'string' && SIDE_EFFECTS.includes(sideEffects)
      ? null
      : { path: 'sideEffects', message: "must be 'none', 'idempotent' or 'yes'" },
    isTimeout(timeoutMs)
      ? null
      : {
          path: 'timeoutMs',
          message: 'must be a whole number of milliseconds from 1 on; absent: TOOL_TIMEOUT',
        },
    typeof run === 'function'
      ? null
      : { path: 'run', message: 'must be a function (args, context) => result' },
    ...Object.keys(value)
      .filter((key) => !FIELDS.includes(key))
      .map((key) => ({ path: key, message: `is not a known field; known are ${FIELDS.join(', ')}` })),
  ];
  return problems.filter((problem) => problem !== null);
}

/** True when `toolProblems` finds none. */
export function isToolDefinition(value: unknown, schemas: Schemas): value is ToolDefinition {
  return toolProblems(value, schemas).length === 0;
}

function parametersProblem(parameters: unknown, schemas: Schemas): Problem | null {
  const path = 'parameters';
  if (!isJsonObject(parameters) || !isPlain(parameters)) {
    return {
      path,
      message: "must be a JSON Schema as plain data, such as { type: 'object', properties: {} }",
    };
  }
  if (parameters.type !== 'object') return { path: 'parameters.type', message: "must be 'object'" };
  try {
    schemas.compile(parameters);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { path, message: `must be a JSON Schema: ${why}` };
  }
}

/** True for plain data: a round trip through JSON does not change it. */
function isPlain(value: object): boolean {
  try {
    return (
      JSON.stringify(JSON.parse(JSON.stringify(value))) === JSON.stringify(value) && hasPlainParts(value)
    );
  } catch {
    return false;
  }
}

function hasPlainParts(value: unknown): boolean {
  // JSON represents the others as null, which models refuse in a schema.
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (Array.isArray(value)) return value.every(hasPlainParts);
  const prototype: unknown = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  const isPlainObject =
    prototype === null || (isObject(prototype) && Object.getPrototypeOf(prototype) === null);
  return isPlainObject && isObject(value) && Object.values(value).every(hasPlainParts);
}

function describedWell(description: unknown): boolean {
  return (
    typeof description === 'string' && description.trim() !== '' && description.length <= MAX_DESCRIPTION
  );
}

function isTimeout(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TIMEOUT;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
