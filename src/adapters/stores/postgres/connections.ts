import { setTimeout as pause } from 'node:timers/promises';
import { Client, Pool, TypeOverrides, types, type ClientConfig, type QueryResultRow } from 'pg';
import type { Log } from '../../../core/ports/log.js';
import { StoreUnavailableError } from '../../../core/ports/store.js';
import { isDeadlock, toStoreError } from './failure.js';

/** Options for opening a PostgreSQL store. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the query parameters that the driver supports. */
  readonly url: string;
  /** Whether an empty database gets the schema. False: it is an error. Default true. */
  readonly creates?: boolean;
  /** Whether an older schema is migrated. False: it is an error. Default true. */
  readonly migrates?: boolean;
  /** Maximum number of open connections. Default 10. */
  readonly poolSize?: number;
  /** How long to wait for a connection, in milliseconds. Default 3000. */
  readonly connectTimeoutMs?: number;
  /** Statement timeout, in milliseconds; the client drops the connection one second after it. Default 5000. */
  readonly statementTimeoutMs?: number;
  /**
   * False: statements are sent without names, for a pooler that gives each transaction another connection of the
   * server. Default true.
   */
  readonly preparesStatements?: boolean;
  /** Receives a warning when an idle connection is lost. */
  readonly log?: Log;
}

/**
 * A statement that the server prepares once per connection, unless the options say otherwise. A name must always stand
 * for the same text.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A parameter of a statement. JavaScript arrays become SQL arrays. */
export type Bindable = string | number | boolean | null | readonly (string | null)[];

/** Runs one statement as its own transaction, and once more after a deadlock. @throws StoreUnavailableError */
export type Run = <R extends QueryResultRow>(
  statement: Statement,
  values: readonly Bindable[],
) => Promise<R[]>;

/** A connection pool of bounded size. */
export interface Connections {
  readonly run: Run;
  close(): Promise<void>;
}

/** Pause before a statement is repeated that a deadlock has rolled back, in milliseconds. */
const DEADLOCK_PAUSE_MS = 50;
/** Idle timeout of a pooled connection, in milliseconds. */
const IDLE_MS = 30_000;

/** The connection options shared by the pool, migrations and transfers. */
export function clientConfig(options: PostgresOptions): ClientConfig {
  return {
    connectionString: options.url,
    fallback_application_name: 'diptych',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 3_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

/**
 * Creates a client that is not connected yet.
 * @throws Error when a file that the URL names, such as that of `sslrootcert`, cannot be read
 */
export function createClient(config: ClientConfig | undefined): Client {
  try {
    return new Client(config);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the URL of PostgreSQL in DATABASE_URL cannot be used: ${reason}`, { cause });
  }
}

/**
 * A client of the pool. The driver reads the files that the URL names, such as that of `sslrootcert`, in its constructor,
 * for each new connection. The pool calls it where nobody catches an error, so here one that cannot be read makes the
 * attempt to connect fail.
 */
class PooledClient extends Client {
  readonly #unusable: Error | undefined;

  constructor(config?: ClientConfig) {
    const unusable = constructionError(config);
    super(unusable === undefined ? config : {});
    this.#unusable = unusable;
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | undefined {
    const unusable = this.#unusable;
    if (callback === undefined) return unusable === undefined ? super.connect() : Promise.reject(unusable);
    if (unusable === undefined) super.connect(callback);
    else process.nextTick(callback, unusable);
    return undefined;
  }
}

function constructionError(config: ClientConfig | undefined): Error | undefined {
  try {
    createClient(config);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Creates a pool that opens connections on demand. A failed connection is dropped and the next statement opens another,
 * so the pool recovers by itself when PostgreSQL comes back.
 * @param settings server run-time parameters to set on each connection
 */
export function openConnections(
  options: PostgresOptions,
  settings: Readonly<Record<string, string>>,
): Connections {
  const { statementTimeoutMs: statementMs = 5_000, preparesStatements = true } = options;
  const parsers = new TypeOverrides();
  // All bigint columns are counters, sizes or milliseconds, below Number.MAX_SAFE_INTEGER.
  parsers.setTypeParser(types.builtins.INT8, Number);
  const assignments = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new Pool({
    ...clientConfig(options),
    ...(assignments.length > 0 && { options: assignments.join(' ') }),
    max: options.poolSize ?? 10,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: statementMs,
    // The client's own timeout: statement_timeout does not help when the server does not respond at all.
    query_timeout: statementMs + 1_000,
    types: parsers,
    Client: PooledClient,
  });
  let closing: Promise<void> | undefined;
  pool.on('error', (error) => {
    // The pool has already dropped the connection.
    options.log?.warn({ err: toStoreError(error) }, 'an idle connection to PostgreSQL was lost');
  });

  return {
    async run<R extends QueryResultRow>({ name, text }: Statement, values: readonly Bindable[]) {
      if (closing !== undefined) throw new StoreUnavailableError('the store is closed');
      const statement = { text, values: values.map(bound), ...(preparesStatements && { name }) };
      const attempt = async (): Promise<R[]> => (await pool.query<R>(statement)).rows;
      try {
        return await attempt().catch(async (error: unknown) => {
          if (!isDeadlock(error)) throw error;
          // All of it was rolled back. The pause lets those that waited for its locks take them first.
          await pause(DEADLOCK_PAUSE_MS);
          return attempt();
        });
      } catch (error) {
        throw toStoreError(error);
      }
    },
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** Replaces NUL characters, which PostgreSQL text cannot store. */
function bound(value: Bindable): Bindable {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return isList(value) ? value.map((item) => item?.replaceAll('\0', '\uFFFD') ?? null) : value;
}

function isList(value: Bindable): value is readonly (string | null)[] {
  return Array.isArray(value);
}
