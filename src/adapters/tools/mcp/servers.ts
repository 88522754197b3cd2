import type { Log } from '../../../core/ports/log.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Tool } from '../../../core/ports/tool.js';
import { McpServer } from './server.js';
import { MCP_TIMING, mcpProblems, type McpServerSettings, type McpTiming } from './settings.js';

/** How a server is. */
export interface McpServerState {
  readonly name: string;
  /** Why it cannot be used at the moment, in words for the operator; null: it can. */
  readonly problem: string | null;
  readonly tools: number;
}

/** The tool servers of the configuration. Their tools come and go. */
export interface McpServers {
  /** All tools that are known now, those of servers that are down too. The same array until something changes. */
  list(): readonly Tool[];
  /** Begins to connect, in the background: nothing waits for a server, and none can make it fail. */
  start(): void;
  /** Resolves when each server has been tried once, or `signal` aborts. Never rejects. */
  tried(signal: AbortSignal): Promise<void>;
  states(): readonly McpServerState[];
  /** Tells when `list` changes. Returns what ends it. The listener must not throw. */
  onChange(listener: () => void): () => void;
  /** Ends all connections; resolves when nothing is left of them, no child process either. */
  close(): Promise<void>;
}

export interface McpDeps {
  readonly log: Log;
  readonly schemas: Schemas;
  /** The environment out of which children get `PATH`, `HOME` and a few more. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What servers are told about us. */
  readonly version: string;
  readonly timing?: Partial<McpTiming>;
}

/** @throws Error that lists what is wrong with the settings */
export function createMcpServers(settings: readonly McpServerSettings[], deps: McpDeps): McpServers {
  const problems = mcpProblems(settings);
  if (problems.length > 0) {
    throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  }
  const listeners = new Set<() => void>();
  let all: readonly Tool[] | null = null;
  const onChange = (): void => {
    all = null;
    for (const listener of listeners) listener();
  };
  const timing = { ...MCP_TIMING, ...deps.timing };
  const tried: Promise<void>[] = [];
  const servers = settings.map((server) => {
    let onAttempt: () => void = () => undefined;
    tried.push(
      new Promise((resolve) => {
        onAttempt = resolve;
      }),
    );
    return new McpServer(server, { ...deps, timing, onChange, onAttempt });
  });
  let isStarted = false;
  let closing: Promise<void> | null = null;
  return {
    list: () => (all ??= servers.flatMap(({ tools }) => tools)),
    start() {
      if (isStarted || closing !== null) return;
      isStarted = true;
      for (const server of servers) server.start();
    },
    async tried(signal) {
      const aborted = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => {
          resolve();
        });
      });
      await Promise.race([Promise.all(tried), aborted]);
    },
    states: () =>
      servers.map((server) => ({
        name: server.name,
        problem: server.problem,
        tools: server.tools.length,
      })),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing ??= Promise.all(servers.map((server) => server.close())).then(() => undefined);
      return closing;
    },
  };
}
