import type { Log } from '../../../core/ports/log.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Tool } from '../../../core/ports/tool.js';
import { McpServer } from './server.js';
import { MCP_TIMING, mcpProblems, type McpServerSettings, type McpTiming } from './settings.js';

/** The state of a server. */
export interface McpServerState {
  readonly name: string;
  /** Why the server is unavailable, for the operator; null: it is available. */
  readonly problem: string | null;
  readonly tools: number;
}

/** The configured tool servers. Their tools may change at any time. */
export interface McpServers {
  /** All known tools, including those of servers that are down. Returns the same array until the list changes. */
  list(): readonly Tool[];
  /** Starts connecting in the background. Never throws. */
  start(): void;
  /** Resolves after the first connection attempt of each server, or when `signal` aborts. Never rejects. */
  tried(signal: AbortSignal): Promise<void>;
  states(): readonly McpServerState[];
  /** Calls `listener`, which must not throw, when `list` changes. Returns the function that unsubscribes it. */
  onChange(listener: () => void): () => void;
  /** Closes all connections. Resolves after their child processes have exited. */
  close(): Promise<void>;
}

export interface McpDeps {
  readonly log: Log;
  readonly schemas: Schemas;
  /** The environment from which children inherit `PATH`, `HOME` and a few more variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client version that is sent to servers. */
  readonly version: string;
  readonly timing?: Partial<McpTiming>;
}

/** @throws Error that lists all problems in the settings */
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
