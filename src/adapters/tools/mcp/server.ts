import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { linkSignals } from '../../../core/model/abort.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import type { Log } from '../../../core/ports/log.js';
import type { Schemas } from '../../../core/ports/tool.js';
import type { Tool, ToolContext } from '../../../core/ports/tool.js';
import { pauseAfter } from './backoff.js';
import { connect, type Connection, type McpProgress } from './connection.js';
import { bounded, McpFailure } from './failure.js';
import { KeptConnection } from './kept-connection.js';
import { ConnectionPool } from './pool.js';
import { toResult } from './result.js';
import { createScrubber, privateValues, resolveSecrets, withoutSecrets, type Scrubber } from './secrets.js';
import { secretsOf, type McpServerSettings, type McpTiming, type McpTransportSettings } from './settings.js';
import { readToolList, type ListedTool } from './tool-list.js';

const MAX_PROGRESS_WORDS = 500;

export interface McpServerParts {
  readonly log: Log;
  readonly schemas: Schemas;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timing: McpTiming;
  readonly version: string;
  /** Called when the tools have changed. */
  onChange(): void;
  /** Called after each attempt to connect; null: it succeeded. */
  onAttempt(failure: Error | null): void;
}

/** One server and its tools. */
export class McpServer {
  readonly name: string;
  #tools: readonly Tool[];
  #listed = '[]';
  /** How many lists this server has sent. */
  #lists = 0;
  readonly #ownSecrets: readonly string[];
  readonly #kept: KeptConnection;
  /**
   * Present when the server's settings contain handles. The kept connection then has no secrets and only lists tools.
   */
  readonly #pool: ConnectionPool | null;
  #refreshing: Promise<void> | null = null;
  /** Closing of the kept connection, after a pooled connection has listed the tools. */
  #retiring: Promise<void> | null = null;
  #isStale = false;

  constructor(
    private readonly settings: McpServerSettings,
    private readonly parts: McpServerParts,
  ) {
    this.name = settings.name;
    this.#ownSecrets = privateValues(settings.transport);
    const needsSecrets = secretsOf(settings).length > 0;
    this.#pool = needsSecrets ? new ConnectionPool(settings.name, parts.timing) : null;
    this.#tools = needsSecrets ? [this.#connectTool()] : [];
    const { log, timing } = parts;
    const transport = withoutSecrets(settings.transport);
    const open = (signal: AbortSignal): Promise<Connection> =>
      this.#open(transport, createScrubber(new Map(), this.#ownSecrets), signal, { listsTools: true });
    const onAttempt = (failure: Error | null): void => {
      parts.onAttempt(failure);
    };
    this.#kept = new KeptConnection({ server: settings.name, log, timing, open, onAttempt });
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Why the server is unavailable; null: it is available. */
  get problem(): string | null {
    return this.#pool !== null && this.#listed !== '[]' ? null : this.#kept.problem;
  }

  start(): void {
    this.#kept.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.close(), this.#pool?.close()]);
    await Promise.all([this.#refreshing, this.#retiring]);
  }

  async #open(
    transport: McpTransportSettings,
    scrub: Scrubber,
    signal: AbortSignal,
    { listsTools }: { listsTools: boolean },
  ): Promise<Connection> {
    const { log, env, timing, version } = this.parts;
    const inTime = linkSignals(signal, AbortSignal.timeout(timing.connectMs));
    let connection: Connection | null = null;
    const onListChanged = (): void => {
      if (connection !== null && (listsTools || !this.#kept.isUp)) this.#refresh(connection);
    };
    try {
      connection = await connect(
        { server: this.name, transport, scrub, log, env, timing, version, onListChanged },
        inTime.signal,
      );
      if (listsTools) await this.#take(await connection.listTools(inTime.signal));
      return connection;
    } catch (error) {
      await connection?.close();
      throw error;
    } finally {
      inTime.release();
    }
  }

  /**
   * Adopts a tool list, unless a newer one arrives before this one is read.
   * @throws McpFailure when it is empty and the server may require a secret to list its tools
   */
  async #take(list: readonly unknown[]): Promise<void> {
    const no = ++this.#lists;
    const listed = await readToolList(list, {
      ...this.parts,
      server: this.name,
      sideEffects: this.settings.sideEffects,
    });
    if (no !== this.#lists) return;
    if (this.#pool !== null && listed.length === 0) {
      throw new McpFailure('refused', `The tool server ${this.name} lists no tools without a secret.`);
    }
    const text = JSON.stringify(listed);
    if (text === this.#listed) return;
    this.#listed = text;
    this.#tools = listed.map((tool) => this.#toTool(tool));
    this.parts.log.info({ server: this.name, tools: listed.length }, 'tool server: tools listed');
    this.parts.onChange();
  }

  /** Lists the tools again until that succeeds, and once more if the list changes while this is running. */
  #refresh(connection: Connection): void {
    this.#isStale = true;
    this.#refreshing ??= this.#refreshAll(connection).finally(() => {
      this.#refreshing = null;
    });
  }

  async #refreshAll(connection: Connection): Promise<void> {
    const { timing, log } = this.parts;
    let failures = 0;
    while (this.#isStale && connection.isOpen) {
      this.#isStale = false;
      try {
        await this.#take(await connection.listTools(AbortSignal.timeout(timing.connectMs)));
        failures = 0;
      } catch (error) {
        this.#isStale = true;
        failures++;
        const problem = error instanceof Error ? error.message : String(error);
        const facts = { err: error, server: this.name, problem };
        if (failures === 1) log.warn(facts, 'tool server: failed to refresh the tool list, retrying');
      }
      // A server may announce a change whenever it is asked.
      const wait = failures === 0 ? timing.firstRetryMs : pauseAfter(failures, timing);
      await Promise.race([pause(wait, undefined, { ref: false }), connection.ended]);
    }
  }

  #toTool({ remoteName, ...tool }: ListedTool): Tool {
    return {
      ...tool,
      timeoutMs: this.settings.timeoutMs,
      run: (args, context) => this.#run(remoteName, args, context),
    };
  }

  async #run(remoteName: string, args: JsonObject, context: ToolContext): Promise<JsonValue> {
    const scrub = createScrubber(context.secrets, this.#ownSecrets);
    const progress = (update: McpProgress): void => {
      context.progress(bounded(scrub.text(progressWords(update)), MAX_PROGRESS_WORDS));
    };
    const { signal } = context;
    const { timeoutMs } = this.settings;
    const call = async (connection: Connection): Promise<JsonValue> => {
      const result = await connection.callTool(remoteName, args, { signal, timeoutMs, progress });
      return toResult(scrub.value(isJsonObject(result) ? result : {}));
    };
    try {
      return await this.#withConnection(context, scrub, call);
    } catch (error) {
      throw scrub.error(error);
    }
  }

  /**
   * Runs `work`, and retries it once over a new connection when the session was lost: then the call was not executed.
   */
  async #withConnection<T>(
    context: Pick<ToolContext, 'secrets' | 'signal'>,
    scrub: Scrubber,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const attempt = async (connection: Connection): Promise<T> => {
      try {
        return await work(connection);
      } catch (error) {
        if (isSessionLost(error)) await connection.close();
        throw error;
      }
    };
    const { signal, secrets } = context;
    const use = async (): Promise<T> => {
      if (this.#pool === null) return attempt(await this.#kept.acquire(signal));
      const transport = resolveSecrets(this.settings.transport, secrets);
      const key = createHash('sha256').update(JSON.stringify(transport)).digest('hex');
      const open = (stop: AbortSignal): Promise<Connection> =>
        this.#open(transport, scrub, stop, { listsTools: false });
      return this.#pool.use(key, signal, open, attempt);
    };
    try {
      return await use();
    } catch (error) {
      if (isSessionLost(error)) return await use();
      throw error;
    }
  }

  /** The placeholder tool of a server that may list its tools only to clients with a secret. */
  #connectTool(): Tool {
    const { name } = this;
    return {
      name: `${name}.connect`,
      description:
        `Connects to the tool server "${name}" and finds out which tools it has. ` +
        'Call this first when a request may need them; they can be called right after.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      sideEffects: 'none',
      timeoutMs: this.settings.timeoutMs,
      run: async (_args, context) => {
        const scrub = createScrubber(context.secrets, this.#ownSecrets);
        try {
          await this.#withConnection(context, scrub, async (connection) => {
            await this.#take(await connection.listTools(context.signal));
          });
          if (!this.#kept.isUp) this.#retiring ??= this.#kept.close();
        } catch (error) {
          throw scrub.error(error);
        }
        return { connected: true, tools: this.#tools.map((tool) => tool.name) };
      },
    };
  }
}

function isSessionLost(error: unknown): boolean {
  return error instanceof McpFailure && error.kind === 'session_lost';
}

function progressWords({ progress, total, message }: McpProgress): string {
  if (message !== undefined && message !== '') return message;
  return total === undefined ? String(progress) : `${String(progress)} of ${String(total)}`;
}
