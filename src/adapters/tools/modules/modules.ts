import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { JsonValue } from '../../../core/model/json.js';
import type { Problem } from '../../../core/model/refusal.js';
import { isInternalError, type Schemas, type Tool } from '../../../core/ports/tool.js';
import { shownUserState } from '../../../core/model/user-state.js';
import { isToolDefinition, toolProblems } from './check.js';
import type { ToolDefinition } from './definition.js';
import { findFiles } from './files.js';

/** How long a module may take to load, in milliseconds. */
const LOAD_MS = 10_000;

/** One mistake in a module. */
export interface ModuleMistake {
  /** Such as `tools/a.mjs: tools[1].name`. */
  readonly where: string;
  /** What would be right. */
  readonly what: string;
}

/** The modules are invalid. `message` lists every mistake on a line of its own. */
export class ToolModuleError extends Error {
  override readonly name = 'ToolModuleError';

  constructor(readonly mistakes: readonly ModuleMistake[]) {
    super(mistakes.map(({ where, what }) => `${where}: ${what}`).join('\n'));
  }
}

export interface ToolModuleDeps {
  /** The folder of the configuration file; relative patterns start here. */
  readonly folder: string;
  readonly schemas: Schemas;
  /** Tool names that are already in use, such as those of the built-in tools. */
  readonly taken: readonly string[];
}

interface Found {
  readonly where: string;
  readonly value: unknown;
}

/**
 * Loads the tools of the operator's own ES modules. The order of the patterns is kept, the files of each pattern are
 * sorted, and a file that matches several patterns is loaded once.
 * @throws ToolModuleError that lists all mistakes
 */
export async function loadToolModules(
  patterns: readonly string[],
  deps: ToolModuleDeps,
): Promise<readonly Tool[]> {
  const mistakes: ModuleMistake[] = [];
  const files = new Set<string>();
  for (const pattern of patterns) {
    try {
      for (const file of await findFiles(pattern, deps.folder)) files.add(file);
    } catch (error) {
      mistakes.push({ where: `tools: ${pattern}`, what: messageOf(error) });
    }
  }
  const tools: Tool[] = [];
  const owners = new Map(deps.taken.map((name) => [name, 'a built-in tool']));
  for (const file of files) {
    for (const { where, value } of await readModule(file, relative(deps.folder, file), mistakes)) {
      const problems = problemsOf(value, deps.schemas);
      mistakes.push(
        ...problems.map(({ path, message }) => ({
          where: path === '' ? where : `${where}.${path}`,
          what: message,
        })),
      );
      if (problems.length > 0 || !isToolDefinition(value, deps.schemas)) continue;
      const owner = owners.get(value.name);
      if (owner === undefined) tools.push(toTool(value));
      else mistakes.push({ where: `${where}.name`, what: `"${value.name}" is already the name of ${owner}` });
      owners.set(value.name, owner ?? where);
    }
  }
  if (mistakes.length > 0) throw new ToolModuleError(mistakes);
  return tools;
}

/** Like `toolProblems`. A getter of the module that throws is a problem, too. */
function problemsOf(value: unknown, schemas: Schemas): readonly Problem[] {
  try {
    return toolProblems(value, schemas);
  } catch (error) {
    return [{ path: '', message: `cannot be read: ${messageOf(error)}` }];
  }
}

/** Returns the unchecked tools that a module exports. Adds mistakes in the module itself to `mistakes`. */
async function readModule(file: string, shown: string, mistakes: ModuleMistake[]): Promise<readonly Found[]> {
  if (!/\.m?js$/.test(file)) {
    mistakes.push({ where: shown, what: 'must be an ES module whose name ends in .mjs or .js' });
    return [];
  }
  let exported: object;
  try {
    exported = await load(file);
  } catch (error) {
    mistakes.push({ where: shown, what: `cannot be loaded: ${messageOf(error)}` });
    return [];
  }
  const found: Found[] = [];
  if ('tool' in exported) found.push({ where: `${shown}: tool`, value: exported.tool });
  if ('tools' in exported) {
    if (isList(exported.tools)) {
      found.push(...exported.tools.map((value, at) => ({ where: `${shown}: tools[${String(at)}]`, value })));
    } else {
      mistakes.push({ where: `${shown}: tools`, what: 'must be a list; export a single tool as `tool`' });
    }
  } else if (found.length === 0) {
    const names = Object.keys(exported).join(', ');
    const what = `must export \`tool\` or \`tools\`, but exports ${names === '' ? 'nothing' : names}`;
    mistakes.push({ where: shown, what });
  }
  return found;
}

/** @throws the error that the module throws while it loads, or an Error on timeout */
async function load(file: string): Promise<object> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`it did not load within ${String(LOAD_MS / 1000)} s`));
    }, LOAD_MS);
  });
  try {
    const exported: unknown = await Promise.race([import(pathToFileURL(file).href), late]);
    return typeof exported === 'object' && exported !== null ? exported : {};
  } finally {
    clearTimeout(timer);
  }
}

function toTool(definition: ToolDefinition): Tool {
  const { name, description, parameters, sideEffects, timeoutMs = null } = definition;
  return {
    ...{ name, description, parameters, sideEffects, timeoutMs },
    run: async (args, context) => {
      const { sessionId, callId, app, wallet, secrets, signal } = context;
      // Copies: the session and the stored call have the same objects, and the module may change its own.
      const userState = structuredClone(context.userState && shownUserState(context.userState));
      const progress = (message: unknown): void => {
        context.progress(textOf(message));
      };
      const shown = { sessionId, callId, app, wallet, userState, secrets, signal, progress };
      return toJson(await runForPeople(() => definition.run(structuredClone(args), shown)));
    },
  };
}

/**
 * Runs a module's code. Converts its errors to plain ones whose messages are shown, such as `TypeError` and those whose
 * message is no text.
 */
async function runForPeople<T>(run: () => Promise<T> | T): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = textOf(error.message);
    throw isInternalError(error) || message !== error.message ? new Error(message, { cause: error }) : error;
  }
}

/** Converts to text what a module passes as text, in spite of its type. */
function textOf(words: unknown): string {
  return typeof words === 'string' ? words : inspect(words);
}

/** Converts a result to plain JSON, the only form that the history may store. */
function toJson(result: unknown): JsonValue {
  if (result === undefined) return null;
  try {
    const value: unknown = JSON.parse(JSON.stringify(result));
    if (isJson(value)) return value;
    throw new Error('it is empty');
  } catch (error) {
    throw new Error(`The tool's result cannot be serialized as JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** Narrows what `JSON.parse` returns, which is JSON unless it is undefined. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error
    ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}`
    : String(error);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
