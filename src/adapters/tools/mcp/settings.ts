import type { Tool } from '../../../core/ports/tool.js';
import type { Problem } from '../../../core/model/refusal.js';

/** How to reach a tool server. Values of `env` and `headers` may contain handles such as `Bearer $SECRET:API_KEY`. */
export type McpTransportSettings =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Added to the few variables that every child inherits (`PATH`, `HOME`, …). */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** The longest timeout: what Node's timers take at most, in milliseconds. */
export const LONGEST_MS = 2_147_483_647;

/** The configuration of a server of the Model Context Protocol. */
export interface McpServerSettings {
  /** Its tools are called `name.tool`. */
  readonly name: string;
  readonly transport: McpTransportSettings;
  /** Timeout of a tool call, in milliseconds; null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs: number | null;
  /** The default for tools that declare no hints. */
  readonly sideEffects: Tool['sideEffects'];
}

/** Timeouts in milliseconds, and the size of the connection pool. */
export interface McpTiming {
  /** Timeout for connecting and listing the tools. Generous, because the first start may download the server. */
  readonly connectMs: number;
  /** The first pause between attempts to connect; it doubles up to `maxRetryMs`. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** A connection that lasted at least this long resets the backoff. */
  readonly steadyMs: number;
  /** How long a call waits for a connection that is not up. */
  readonly graceMs: number;
  /** A pooled connection with secrets is closed after this time without a call. */
  readonly idleMs: number;
  /** Timeout of the ping that checks a connection after an error. */
  readonly pingMs: number;
  /** How long a child may take to exit after the end of its input, and again after SIGTERM. */
  readonly closeMs: number;
  /** Maximum number of open connections with secrets per server. */
  readonly poolSize: number;
}

/** The defaults. */
export const MCP_TIMING: McpTiming = {
  connectMs: 60_000,
  firstRetryMs: 500,
  maxRetryMs: 60_000,
  steadyMs: 10_000,
  graceMs: 3_000,
  idleMs: 300_000,
  pingMs: 10_000,
  closeMs: 1_000,
  poolSize: 32,
};

const HANDLE = /\$SECRET:([A-Za-z_][A-Za-z0-9_]{0,63})/g;
const ANY_HANDLE = '$SECRET:';
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/**
 * Lists the names of the secrets that a server needs, sorted. Each App that uses the server needs slots of these names.
 */
export function secretsOf({ transport }: McpServerSettings): readonly string[] {
  const names = Object.values(secretPlaces(transport)).flatMap((value) =>
    [...value.matchAll(HANDLE)].flatMap(([, name]) => (name === undefined ? [] : [name])),
  );
  return [...new Set(names)].sort();
}

/** Replaces each handle in a value. */
export function fillHandles(value: string, fill: (name: string) => string): string {
  return value.replaceAll(HANDLE, (_, name: string) => fill(name));
}

/** True when a value contains a handle, well-formed or not. */
export function hasHandle(value: string): boolean {
  return value.includes(ANY_HANDLE);
}

/** The part of a transport's settings that may contain handles. */
export function secretPlaces(transport: McpTransportSettings): Readonly<Record<string, string>> {
  return transport.kind === 'stdio' ? transport.env : transport.headers;
}

/** Validates the settings. Paths look like `[0].transport.url`; messages never quote values of `env` or `headers`. */
export function mcpProblems(servers: readonly McpServerSettings[]): readonly Problem[] {
  const names = servers.map(({ name }) => name);
  return servers.flatMap((server, index) => {
    const at = `[${String(index)}]`;
    const problems: Problem[] = [];
    if (!NAME.test(server.name)) {
      const message = 'must have 1 to 32 letters, digits, dashes or underscores and begin with a letter';
      problems.push({ path: `${at}.name`, message });
    }
    if (names.indexOf(server.name) !== index) {
      problems.push({ path: `${at}.name`, message: `there is another server named "${server.name}"` });
    }
    if (server.timeoutMs !== null && !(server.timeoutMs > 0 && server.timeoutMs <= LONGEST_MS)) {
      problems.push({
        path: `${at}.timeoutMs`,
        message: `must be more than 0, and at most ${String(LONGEST_MS)}`,
      });
    }
    return [
      ...problems,
      ...transportProblems(server.transport).map(({ path, message }) => ({ path: at + path, message })),
    ];
  });
}

function transportProblems(transport: McpTransportSettings): readonly Problem[] {
  const places = Object.entries(secretPlaces(transport))
    .filter(([, value]) => hasHandle(fillHandles(value, () => '')))
    .map(([key]) => ({
      path: `.transport.${transport.kind === 'stdio' ? 'env' : 'headers'}.${key}`,
      message: 'contains a handle that does not have the form $SECRET:NAME',
    }));
  const open = transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.url];
  const misplaced = open.some(hasHandle)
    ? [{ path: '.transport', message: 'may contain secrets only in values of env (stdio) or headers (http)' }]
    : [];
  return [...places, ...misplaced, ...addressProblems(transport)];
}

function addressProblems(transport: McpTransportSettings): readonly Problem[] {
  if (transport.kind === 'stdio') {
    return transport.command.trim() === ''
      ? [{ path: '.transport.command', message: 'must not be blank' }]
      : [];
  }
  const url = URL.canParse(transport.url) ? new URL(transport.url) : null;
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isWeb
    ? []
    : [{ path: '.transport.url', message: 'must be an http or https URL without user and password' }];
}
