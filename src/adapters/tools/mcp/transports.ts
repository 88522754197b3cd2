import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Log } from '../../../core/ports/log.js';
import { createBoundedFetch } from './bounded-fetch.js';
import { inheritedEnv } from './child.js';
import { bounded } from './failure.js';
import type { Sdk } from './sdk.js';
import type { Scrubber } from './secrets.js';
import type { McpTransportSettings } from './settings.js';
import { StdioTransport } from './stdio-transport.js';

const MAX_STDERR_LINES = 100;
const MAX_STDERR_LINE = 500;
const GOODBYE_MS = 2_000;

/** A way to a server: how messages get there, and how to take leave. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Closes it and resolves when nothing of it is left. */
  close(): Promise<void>;
  /** From now on, what people wrote goes through it. */
  becomePrivate(): void;
  readonly kind: McpTransportSettings['kind'];
}

export interface TransportParts {
  readonly server: string;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly closeMs: number;
  readonly scrub: Scrubber;
}

/** Makes the transport; nothing is started or sent yet. The settings hold no handles any more. */
export function openTransport(
  settings: McpTransportSettings,
  sdk: Sdk,
  parts: TransportParts,
): OpenTransport {
  return settings.kind === 'stdio' ? overStdio(settings, sdk, parts) : overHttp(settings, sdk);
}

type Settings<K> = Extract<McpTransportSettings, { kind: K }>;

function overStdio(settings: Settings<'stdio'>, sdk: Sdk, parts: TransportParts): OpenTransport {
  let left = MAX_STDERR_LINES;
  const transport = new StdioTransport({
    command: settings.command,
    args: settings.args,
    env: { ...inheritedEnv(parts.env), ...settings.env },
    cwd: settings.cwd,
    closeMs: parts.closeMs,
    parse: sdk.parseLine,
    onStderr(chunk) {
      // Later lines may hold what people wrote, which no log may: they are read and let go.
      if (left <= 0) return;
      const lines = parts.scrub.text(chunk.toString()).split('\n');
      for (const line of lines.filter((given) => given.trim() !== '').slice(0, left)) {
        left--;
        parts.log.info({ server: parts.server, line: bounded(line, MAX_STDERR_LINE) }, 'tool server says');
      }
    },
  });
  return {
    kind: 'stdio',
    transport,
    close: () => transport.close(),
    becomePrivate() {
      left = 0;
    },
  };
}

function overHttp(settings: Settings<'http'>, sdk: Sdk): OpenTransport {
  const url = new URL(settings.url);
  const closed = new AbortController();
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit: { headers: settings.headers },
    fetch: createBoundedFetch(url, closed.signal),
  });
  return {
    kind: 'http',
    transport,
    async close() {
      // A courtesy to the server, which would else keep the session; its answer does not matter.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)));
      await Promise.race([Promise.allSettled([transport.terminateSession()]), late]);
      clearTimeout(timer);
      closed.abort();
      await transport.close();
    },
    becomePrivate() {
      // Nothing of it is logged.
    },
  };
}
