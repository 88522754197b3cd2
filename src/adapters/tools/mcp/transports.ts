import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Log } from '../../../core/ports/log.js';
import { createBoundedFetch } from './bounded-fetch.js';
import { inheritedEnv } from './child.js';
import { bounded } from './failure.js';
import { endingStreams, OneResponse } from './lost-responses.js';
import type { Sdk } from './sdk.js';
import type { Scrubber } from './secrets.js';
import type { McpTransportSettings } from './settings.js';
import { StdioTransport } from './stdio-transport.js';

const MAX_STDERR_LINES = 100;
const MAX_STDERR_LINE = 500;
const GOODBYE_MS = 2_000;

/** The transport of a connection, and how to close it. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Closes the transport. Resolves after a child process has exited. */
  close(): Promise<void>;
  /** Stops logging the server's output: from now on, it may contain user data. */
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

/** Creates the transport without starting it. The settings must not contain handles. */
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
      // Discard lines after `becomePrivate`: they may contain user data, which must not be logged.
      if (left <= 0) return;
      const lines = parts.scrub.text(chunk.toString()).split('\n');
      for (const line of lines.filter((given) => given.trim() !== '').slice(0, left)) {
        left--;
        parts.log.info({ server: parts.server, line: bounded(line, MAX_STDERR_LINE) }, 'tool server: stderr');
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
  const waiting = new Set<number>();
  const fetch = createBoundedFetch(url, closed.signal, (error) => {
    transport.onerror?.(error);
    closed.abort();
    void transport.close();
  });
  const transport = new sdk.StreamableHTTPClientTransport(url, {
    requestInit: { headers: settings.headers },
    fetch: endingStreams(fetch, waiting),
  });
  return {
    kind: 'http',
    transport: new OneResponse(transport, waiting),
    async close() {
      // End the session, which the server would otherwise keep. The outcome does not matter.
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, GOODBYE_MS)));
      await Promise.race([Promise.allSettled([transport.terminateSession()]), late]);
      clearTimeout(timer);
      closed.abort();
      await transport.close();
    },
    becomePrivate() {
      // This transport logs no server output.
    },
  };
}
