import { dirname, resolve } from 'node:path';
import type { McpServers } from '../adapters/tools/mcp/servers.js';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import type { Config } from '../config.js';
import type { ToolConfig, ToolServerConfig } from '../config/tools.js';
import { refuseMistakes, type Mistake } from '../config/mistakes.js';
import type { App } from '../core/model/app.js';
import type { Log } from '../core/ports/log.js';
import type { Schemas } from '../core/ports/tool.js';
import type { Tool, ToolSource } from '../core/ports/tool.js';

/** All tools, including those of tool servers. */
export interface AssembledTools extends ToolSource {
  /** The tools without a server: built-in ones, those for chains and prices, and the operator's modules. */
  readonly own: readonly Tool[];
  /** Starts to connect to tool servers, in the background. */
  start(): void;
  close(): Promise<void>;
}

/** @throws ConfigError when a tool module, a tool server or an allowed host is misconfigured */
export async function createTools(
  config: Config,
  deps: { readonly schemas: Schemas; readonly log: Log; readonly version: string },
): Promise<AssembledTools> {
  refuseMistakes(await toolMistakes(config));
  const own = await createOwnTools(config, deps.schemas);
  const servers = await createServers(config, deps);
  let listed: readonly Tool[] | null = null;
  servers?.onChange(() => (listed = null));
  return {
    own,
    list: () => (listed ??= [...own, ...(servers?.list() ?? [])]),
    start() {
      servers?.start();
    },
    async close() {
      await servers?.close();
    },
  };
}

/**
 * Creates all tools except those of tool servers.
 * @throws ConfigError when a tool module is invalid
 */
export async function createOwnTools(config: Config, schemas: Schemas): Promise<readonly Tool[]> {
  const { chains, prices, modules, allowHosts } = config.tools;
  const { builtinTools } = await import('../adapters/tools/builtin/tools.js');
  const tools = [...builtinTools(systemClock)];
  if (chains.length > 0) {
    const { evmTools } = await import('../adapters/tools/evm/tools.js');
    tools.push(...evmTools({ chains, allowHosts }));
  }
  if (prices !== null) {
    const { priceTools } = await import('../adapters/tools/prices/tools.js');
    const { cacheSeconds, feeds, http } = prices;
    const settings = {
      chains,
      cacheSeconds,
      feeds: feeds.map(({ heartbeatSeconds, ...feed }) => ({
        ...feed,
        ...(heartbeatSeconds !== null && { heartbeatSeconds }),
      })),
      http:
        http === null
          ? null
          : { baseUrl: http.baseUrl, apiKey: http.apiKey, ids: http.ids, vsCurrency: http.currency },
    };
    tools.push(...priceTools(settings, systemClock));
  }
  if (modules.length === 0) return tools;
  const [{ loadToolModules, ToolModuleError }, { WALLET_TOOLS }, { WALLET_REPORT }] = await Promise.all([
    import('../adapters/tools/modules/modules.js'),
    import('../core/wallet/wallet-tools.js'),
    import('../core/rigs/context-window.js'),
  ]);
  const folder = folderOf(config.file);
  const taken = [...tools.map(({ name }) => name), ...WALLET_TOOLS, WALLET_REPORT];
  try {
    return [...tools, ...(await loadToolModules(modules, { folder, schemas, taken }))];
  } catch (error) {
    if (error instanceof ToolModuleError) refuseMistakes(error.mistakes);
    throw error;
  }
}

async function createServers(
  { tools, childEnvironment, file }: Config,
  { schemas, log, version }: { readonly schemas: Schemas; readonly log: Log; readonly version: string },
): Promise<McpServers | undefined> {
  if (tools.servers.length === 0) return undefined;
  const { createMcpServers } = await import('../adapters/tools/mcp/servers.js');
  const servers = tools.servers.map((server) => placed(server, folderOf(file)));
  return createMcpServers(servers, { log, schemas, env: childEnvironment, version });
}

/** Finds mistakes in the settings of tools that the schema of the file cannot express. */
export async function toolMistakes({ tools, apps, file }: Config): Promise<readonly Mistake[]> {
  const name = file ?? 'configuration';
  return [...(await hostMistakes(tools, name)), ...(await serverMistakes(tools, apps, name))];
}

async function hostMistakes({ allowHosts }: ToolConfig, file: string): Promise<readonly Mistake[]> {
  if (allowHosts.length === 0) return [];
  const { allowedHosts } = await import('../adapters/platform/net/allowed-hosts.js');
  return allowHosts.flatMap((entry, index) => {
    try {
      allowedHosts([entry]);
      return [];
    } catch {
      const what = 'must be a host, or host:port, such as mcp.internal or 127.0.0.1:9000';
      return [{ where: `${file}: allowHosts[${String(index)}]`, what }];
    }
  });
}

async function serverMistakes(
  { servers }: ToolConfig,
  apps: readonly App[],
  file: string,
): Promise<readonly Mistake[]> {
  if (servers.length === 0) return [];
  const { mcpProblems, secretsOf } = await import('../adapters/tools/mcp/settings.js');
  const wrong = mcpProblems(servers).map(({ path, message }) => ({
    // The file has the settings of the transport beside the others.
    where: `${file}: mcp${path.replace('.transport', '')}`,
    what: message,
  }));
  const slotless = apps.flatMap((app) => {
    const slots = new Set(app.secrets.map((slot) => slot.name));
    const needed = servers.filter((server) => app.toolServers.includes(server.name)).flatMap(secretsOf);
    return needed
      .filter((secret) => !slots.has(secret))
      .map((secret) => ({
        where: `${file}: App ${app.name}: secrets`,
        what: `a tool server of this App needs a slot named ${secret}`,
      }));
  });
  return [...wrong, ...slotless];
}

/** The base of relative paths in the configuration. */
function folderOf(file: string | null): string {
  return file === null ? process.cwd() : dirname(file);
}

/** Resolves the working directory of a server relative to the configuration file. */
function placed(server: ToolServerConfig, folder: string): ToolServerConfig {
  const { transport } = server;
  if (transport.kind === 'http') return server;
  return { ...server, transport: { ...transport, cwd: resolve(folder, transport.cwd ?? '.') } };
}
