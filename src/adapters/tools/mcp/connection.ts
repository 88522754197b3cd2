import { TurnStopped } from '../../../core/model/abort.js';
import type { JsonObject, JsonValue } from '../../../core/model/json.js';
import type { Log } from '../../../core/ports/log.js';
import { isAnswer, McpFailure, toFailure } from './failure.js';
import { loadSdk, type Sdk } from './sdk.js';
import type { Scrubber } from './secrets.js';
import { LONGEST_MS, type McpTiming, type McpTransportSettings } from './settings.js';
import { openTransport } from './transports.js';

const MAX_PAGES = 50;
/** How many errors of one connection are logged: a server can cause any number of them. */
const MAX_LOGGED_ERRORS = 20;
/** Maximum size of all pages of a tool list, in characters of JSON. */
const MAX_LIST = 4 * 1024 * 1024;

/** Progress of a call, as the server reports it. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A connection to a server. Its requests reject with an `McpFailure`. */
export interface Connection {
  /** Lists all tools as the server describes them, unvalidated, but without secrets. */
  listTools(signal: AbortSignal): Promise<readonly unknown[]>;
  /**
   * Calls a tool and resolves to the unvalidated result, which may contain secrets. Aborting the signal also cancels the
   * call at the server.
   */
  callTool(
    name: string,
    args: JsonObject,
    options: { signal: AbortSignal; timeoutMs: number | null; progress: (progress: McpProgress) => void },
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Resolves after the connection has closed and its child process, if any, has exited. */
  close(): Promise<void>;
  /** Resolves when the connection has ended, on its own or through `close`. */
  readonly ended: Promise<void>;
  readonly isOpen: boolean;
}

export interface ConnectionParts {
  readonly server: string;
  /** The settings with every handle resolved or removed. */
  readonly transport: McpTransportSettings;
  readonly scrub: Scrubber;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timing: McpTiming;
  readonly version: string;
  onListChanged(): void;
}

/** Connects. @throws McpFailure, also when `signal` aborts, after releasing all resources */
export async function connect(parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  const sdk = await loadSdk();
  const { closeMs } = parts.timing;
  const way = openTransport(parts.transport, sdk, { ...parts, closeMs });
  const client = new sdk.Client({ name: 'diptych', version: parts.version });
  const connection = new ClientConnection(client, sdk, parts, () => way.close());
  client.onclose = () => {
    connection.markEnded();
  };
  let errors = 0;
  client.onerror = (error) => {
    if (!connection.isOpen || ++errors > MAX_LOGGED_ERRORS) return;
    parts.log.info({ err: parts.scrub.error(error), server: parts.server }, 'tool server: connection error');
  };
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => {
    parts.onListChanged();
  });
  try {
    await client.connect(way.transport, { signal, timeout: parts.timing.connectMs });
    signal.throwIfAborted();
  } catch (error) {
    const isConnecting = way.transport.sessionId === undefined;
    await connection.close();
    throw failureOf(error, parts, { isConnecting });
  }
  way.becomePrivate();
  if (way.kind === 'http') {
    // HTTP does not signal that the server is gone or has lost the session, so check the connection after any error.
    const { onerror } = way.transport;
    way.transport.onerror = (error) => {
      onerror?.(error);
      connection.check();
    };
  }
  return connection;
}

class ClientConnection implements Connection {
  readonly ended: Promise<void>;
  #isOpen = true;
  #resolveEnded: () => void = () => undefined;
  #closing: Promise<void> | null = null;
  #isChecking = false;

  constructor(
    private readonly client: InstanceType<Sdk['Client']>,
    private readonly sdk: Sdk,
    private readonly parts: ConnectionParts,
    private readonly closeTransport: () => Promise<void>,
  ) {
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#closing === null;
  }

  markEnded(): void {
    this.#isOpen = false;
    this.#resolveEnded();
  }

  async listTools(signal: AbortSignal): Promise<readonly unknown[]> {
    const tools: unknown[] = [];
    let size = 0;
    let cursor: string | null = null;
    const cursors = new Set<string>();
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const params: { cursor?: string } = cursor === null ? {} : { cursor };
      const options = { signal, timeout: this.parts.timing.connectMs };
      const result = await this.#request({ method: 'tools/list', params }, options);
      const page: unknown = result.tools;
      if (!isList(page)) {
        throw new McpFailure('refused', `The tool server ${this.parts.server} did not list its tools.`);
      }
      size += JSON.stringify(page).length;
      if (size > MAX_LIST) {
        throw new McpFailure(
          'refused',
          `The tool list of the tool server ${this.parts.server} is too large.`,
        );
      }
      tools.push(...page.map((tool) => this.parts.scrub.value(tool)));
      const { nextCursor } = result;
      // A server that does not support cursors may repeat its first page.
      if (typeof nextCursor !== 'string' || nextCursor === '' || cursors.has(nextCursor)) break;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    return tools;
  }

  async callTool(
    name: string,
    args: JsonObject,
    call: { signal: AbortSignal; timeoutMs: number | null; progress: (progress: McpProgress) => void },
  ): Promise<Readonly<Record<string, unknown>>> {
    try {
      return await this.#request(
        { method: 'tools/call', params: { name, arguments: args } },
        { signal: call.signal, timeout: call.timeoutMs ?? LONGEST_MS, onprogress: call.progress },
      );
    } catch (error) {
      // After a timeout or a lost response, check the whole server. After an interruption, it may merely be busy.
      const isSuspect = error instanceof McpFailure && (error.kind === 'timeout' || error.kind === 'gone');
      if (isSuspect && !(call.signal.reason instanceof TurnStopped)) this.check();
      throw error;
    }
  }

  async #request(
    request: { method: string; params: Record<string, unknown> },
    options: { signal: AbortSignal; timeout: number; onprogress?: (progress: McpProgress) => void },
  ): Promise<Readonly<Record<string, unknown>>> {
    // The SDK never removes its listener from a signal. With the caller's own signal, it would cancel finished requests
    // and send the reason to the server, and Node would warn of a leak after ten pages of a list.
    const cancel = new AbortController();
    const onAbort = (): void => {
      cancel.abort('cancelled');
    };
    if (options.signal.aborted) onAbort();
    options.signal.addEventListener('abort', onAbort, { once: true });
    try {
      // The SDK's `callTool` compiles all output schemas of the server, so that one invalid schema would break all
      // tools.
      return await this.client.request(request, this.sdk.ResultSchema, { ...options, signal: cancel.signal });
    } catch (error) {
      throw failureOf(error, this.parts);
    } finally {
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Pings the server in the background; closes the connection when it does not respond. */
  check(): void {
    if (this.#isChecking || !this.isOpen) return;
    this.#isChecking = true;
    this.client
      .ping({ timeout: this.parts.timing.pingMs })
      .catch(async (error: unknown) => {
        if (!isAnswer(error)) await this.close();
      })
      .catch((error: unknown) => {
        const { log, scrub, server } = this.parts;
        log.warn({ err: scrub.error(error), server }, 'tool server: failed to close the connection');
      })
      .finally(() => {
        this.#isChecking = false;
      });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.closeTransport();
    } finally {
      this.markEnded();
    }
  }
}

function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Converts an error to an `McpFailure` whose message and cause contain no secrets. */
function failureOf(
  error: unknown,
  { server, scrub }: ConnectionParts,
  { isConnecting }: { isConnecting: boolean } = { isConnecting: false },
): McpFailure {
  const mask = (text: string): string => scrub.text(text);
  const { kind, message, cause } = toFailure(error, server, { mask, isConnecting });
  return new McpFailure(kind, scrub.text(message), cause === undefined ? {} : { cause: scrub.error(cause) });
}
