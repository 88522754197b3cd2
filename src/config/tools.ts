import type { FileTools } from './tool-schema.js';

/** A chain that tools can query. The first configured one is the default. */
export interface ChainConfig {
  readonly id: number;
  readonly name: string;
  /** The URLs after the first are fallbacks. They may contain keys. */
  readonly rpcUrls: readonly string[];
  readonly symbol?: string;
  readonly decimals?: number;
  readonly tokens?: readonly { readonly symbol: string; readonly address: string }[];
  readonly ens?: { readonly universalResolver: string } | null;
  /** What clients add to a batch of transactions. Absent: nothing. */
  readonly fee?: { readonly recipient: string; readonly amountWei: string };
}

/** The sources of prices. */
export interface PriceConfig {
  readonly cacheSeconds: number;
  readonly feeds: readonly {
    readonly symbol: string;
    readonly chainId: number;
    readonly address: string;
    readonly heartbeatSeconds: number | null;
  }[];
  readonly http: {
    readonly baseUrl: string;
    readonly apiKey: string | null;
    /** The source's own ids, by symbol. */
    readonly ids: Readonly<Record<string, string>>;
    readonly currency: string;
  } | null;
}

/** A server of the Model Context Protocol. */
export interface ToolServerConfig {
  readonly name: string;
  readonly transport:
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd: string | null;
      }
    | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly timeoutMs: number | null;
  readonly sideEffects: 'none' | 'idempotent' | 'yes';
}

/** The configuration of all tools. */
export interface ToolConfig {
  /** Glob patterns of the operator's own tool modules, relative to the configuration file. */
  readonly modules: readonly string[];
  readonly chains: readonly ChainConfig[];
  /** Null: no prices. */
  readonly prices: PriceConfig | null;
  readonly servers: readonly ToolServerConfig[];
  /** Hosts (`host` or `host:port`) that tools may reach even if their addresses are private. */
  readonly allowHosts: readonly string[];
}

/** Default cache time of a price, in seconds. */
const CACHE_SECONDS = 15;

/** Reads the tool configuration. Without a file, only the built-in tools exist. */
export function toolsOf(file: FileTools | undefined): ToolConfig {
  const { tools, chains, prices, mcp, allowHosts } = file ?? {};
  return {
    modules: typeof tools === 'string' ? [tools] : (tools ?? []),
    chains: (chains ?? []).map(({ symbol, decimals, tokens, ens, fee, ...chain }) => ({
      ...chain,
      ...(symbol !== undefined && { symbol }),
      ...(decimals !== undefined && { decimals }),
      ...(tokens !== undefined && { tokens }),
      ...(ens !== undefined && { ens }),
      ...(fee !== undefined && fee !== null && { fee }),
    })),
    prices: pricesOf(prices ?? undefined),
    servers: (mcp ?? []).map(serverOf),
    allowHosts: allowHosts ?? [],
  };
}

function pricesOf(prices: NonNullable<FileTools['prices']> | undefined): PriceConfig | null {
  if (prices === undefined) return null;
  const { cacheSeconds = CACHE_SECONDS, feeds = [], http } = prices;
  return {
    cacheSeconds,
    feeds: feeds.map(({ heartbeat = null, ...feed }) => ({ ...feed, heartbeatSeconds: heartbeat })),
    http:
      http === undefined
        ? null
        : {
            baseUrl: http.baseUrl,
            apiKey: http.apiKey ?? null,
            ids: http.ids ?? {},
            currency: http.currency ?? 'usd',
          },
  };
}

function serverOf(server: NonNullable<FileTools['mcp']>[number]): ToolServerConfig {
  const {
    name,
    command,
    url,
    timeout,
    sideEffects = 'yes',
    args = [],
    env = {},
    cwd = null,
    headers = {},
  } = server;
  const timeoutMs = timeout === undefined ? null : timeout * 1000;
  const transport =
    command === undefined
      ? ({ kind: 'http', url: url ?? '', headers } as const)
      : ({ kind: 'stdio', command, args, env, cwd } as const);
  return { name, transport, timeoutMs, sideEffects };
}
