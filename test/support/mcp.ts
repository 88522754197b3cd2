import { fileURLToPath } from 'node:url';
// Loaded first: Jest fails to link this module when several modules that need it are imported at once.
import '@modelcontextprotocol/sdk/types.js';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { createMcpServers, type McpServers } from '../../src/adapters/tools/mcp/servers.js';
import type { McpServerSettings, McpTiming } from '../../src/adapters/tools/mcp/settings.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type { Tool, ToolContext } from '../../src/core/ports/tool.js';
import { keptLog } from './core.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TSX = new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;

/** The scripted server as a child; see `mcp-server.ts` for what `env` may hold. */
export function scripted(
  name: string,
  env: Record<string, string> = {},
  fields: Partial<McpServerSettings> = {},
): McpServerSettings {
  return {
    name,
    transport: {
      kind: 'stdio',
      command: process.execPath,
      args: ['--import', TSX, `${ROOT}test/support/mcp-server.ts`],
      env,
      cwd: ROOT,
    },
    timeoutMs: 20_000,
    sideEffects: 'yes',
    ...fields,
  };
}

export function overHttp(
  name: string,
  url: string,
  headers: Record<string, string> = {},
  fields: Partial<McpServerSettings> = {},
): McpServerSettings {
  return {
    name,
    transport: { kind: 'http', url, headers },
    timeoutMs: 20_000,
    sideEffects: 'yes',
    ...fields,
  };
}

export interface Started {
  readonly servers: McpServers;
  readonly log: ReturnType<typeof keptLog>;
  tool(name: string): Tool;
  call(name: string, args?: JsonObject, context?: Partial<ToolContext>): Promise<JsonValue>;
  /** Resolves when `holds` does; it is asked again at each change of the list and of a server's state. */
  until(holds: () => boolean): Promise<void>;
}

const started: McpServers[] = [];

/** Ends all that a test has started: for `afterEach`. */
export async function closeMcp(): Promise<void> {
  await Promise.all(started.splice(0).map((servers) => servers.close()));
}

/** Starts servers with short pauses. */
export function startMcp(settings: readonly McpServerSettings[], timing: Partial<McpTiming> = {}): Started {
  const changes = new Set<() => void>();
  const kept = keptLog();
  const tell =
    (level: 'info' | 'warn' | 'error') =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      kept[level](fields, message);
      for (const change of changes) change();
    };
  const log = { ...kept, info: tell('info'), warn: tell('warn'), error: tell('error') };
  const servers = createMcpServers(settings, {
    ...{ log, schemas: createSchemas(), env: process.env, version: '0.0.0' },
    timing: { firstRetryMs: 20, maxRetryMs: 200, graceMs: 10_000, closeMs: 2_000, ...timing },
  });
  started.push(servers);
  servers.onChange(() => {
    for (const change of changes) change();
  });
  servers.start();
  const tool = (name: string): Tool => {
    const found = servers.list().find((one) => one.name === name);
    if (found === undefined)
      throw new Error(
        `no tool ${name} among ${servers
          .list()
          .map((one) => one.name)
          .join()}`,
      );
    return found;
  };
  return {
    servers,
    log,
    tool,
    call: async (name, args = {}, context = {}) => tool(name).run(args, toolContext(context)),
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds()) return;
          changes.delete(look);
          resolve();
        };
        changes.add(look);
        look();
      }),
  };
}

export function toolContext(fields: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: '00000000-0000-4000-8000-000000000000',
    callId: 'call',
    turn: null,
    app: 'default',
    wallet: null,
    userState: null,
    secrets: new Map(),
    signal: new AbortController().signal,
    progress: () => undefined,
    ...fields,
  };
}

/** The progress of a call, to be awaited: `at(words)` resolves when these words have come. */
export function progressOf(): {
  progress: (message: string) => void;
  at(words: string): Promise<void>;
  all: string[];
} {
  const all: string[] = [];
  const waiting = new Map<string, () => void>();
  return {
    all,
    progress(message) {
      all.push(message);
      waiting.get(message)?.();
    },
    at: (words) =>
      new Promise((resolve) => {
        if (all.includes(words)) resolve();
        else waiting.set(words, resolve);
      }),
  };
}

/** True while there is such a process, a zombie too. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
