import type { Tool } from '../../../core/ports/tool.js';
import type { Problem } from '../../../core/model/refusal.js';

/** How a tool server is reached. A value of `env` or `headers` may hold handles such as `Bearer $SECRET:API_KEY`. */
export type McpTransportSettings =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** Beside the few variables that every child gets (`PATH`, `HOME` …). */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** A server of the Model Context Protocol as it is configured. */
export interface McpServerSettings {
  /** Its tools are called `name.tool`. */
  readonly name: string;
  readonly transport: McpTransportSettings;
  /** How long a call of one of its tools may take in milliseconds; null: the service's `TOOL_TIMEOUT`. */
  readonly timeoutMs: number | null;
  /** What is assumed of tools that do not say so themselves. */
  readonly sideEffects: Tool['sideEffects'];
}

/** How long things take, in milliseconds, and how many there are. */
export interface McpTiming {
  /** To connect and to list the tools; a first start may have to download the server. */
  readonly connectMs: number;
  /** Between attempts to connect: the first pause, which doubles up to the last. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** A connection that lasted so long was sound: the pauses begin anew. */
  readonly steadyMs: number;
  /** How long a call waits for a server that is just coming up. */
  readonly graceMs: number;
  /** After so long without a call, a connection with secrets is closed. */
  readonly idleMs: number;
  /** How long a server may take to answer a ping when something went wrong. */
  readonly pingMs: number;
  /** How long a child may take to end by itself, and then to heed SIGTERM. */
  readonly closeMs: number;
  /** Connections with secrets that a server may have at once. */
  readonly poolSize: number;
}

/** Those that hold where nobody says others. */
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

/** The names of the secrets that a server needs, sorted: slots of those names belong into each App that uses it. */
export function secretsOf({ transport }: McpServerSettings): readonly string[] {
  const names = Object.values(secretPlaces(transport)).flatMap((value) =>
    [...value.matchAll(HANDLE)].flatMap(([, name]) => (name === undefined ? [] : [name])),
  );
  return [...new Set(names)].sort();
}

/** Replaces each handle of a value. */
export function fillHandles(value: string, fill: (name: string) => string): string {
  return value.replaceAll(HANDLE, (_, name: string) => fill(name));
}

/** Whether a value has the handle of a secret in it. */
export function hasHandle(value: string): boolean {
  return value.includes(ANY_HANDLE);
}

/** The part of a transport's settings in which handles are looked for. */
export function secretPlaces(transport: McpTransportSettings): Readonly<Record<string, string>> {
  return transport.kind === 'stdio' ? transport.env : transport.headers;
}

/** What is wrong with the settings, and where (`[0].transport.url`). No value of `env` or `headers` is quoted. */
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
    if (server.timeoutMs !== null && !(server.timeoutMs > 0)) {
      problems.push({ path: `${at}.timeoutMs`, message: 'must be more than 0' });
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
      message: 'has a handle that is not of the form $SECRET:NAME',
    }));
  const open = transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.url];
  const misplaced = open.some(hasHandle)
    ? [{ path: '.transport', message: 'secrets can only stand in values of env (stdio) or headers (http)' }]
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
