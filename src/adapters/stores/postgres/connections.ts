import { Pool, TypeOverrides, types, type ClientConfig, type QueryResultRow } from 'pg';
import type { Log } from '../../../core/ports/log.js';
import { StoreUnavailableError } from '../../../core/ports/store.js';
import { toStoreError } from './failure.js';

/** How a store in PostgreSQL is opened. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that the driver knows. */
  readonly url: string;
  /** How many connections are open at most. Default 10. */
  readonly poolSize?: number;
  /** How long to wait for a connection, in milliseconds. Default 3000. */
  readonly connectTimeoutMs?: number;
  /** How long a statement may take, in milliseconds; a second later the connection is given up. Default 5000. */
  readonly statementTimeoutMs?: number;
  /** Hears of connections that were lost while nobody used them. */
  readonly log?: Log;
}

/** A statement that the server prepares once per connection. The name stands for the text. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What can be bound to a statement. Arrays become arrays. */
export type Bindable = string | number | boolean | null | readonly string[];

/** Runs one statement in a transaction of its own. @throws StoreUnavailableError */
export type Run = <R extends QueryResultRow>(
  statement: Statement,
  values: readonly Bindable[],
) => Promise<R[]>;

/** A bounded number of connections. */
export interface Connections {
  readonly run: Run;
  close(): Promise<void>;
}

/** How long a connection that nobody uses stays open, in milliseconds. */
const IDLE_MS = 30_000;

/** What every connection of the store has in common. */
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
 * Opens connections as they are needed. One that fails is given up, and the next statement gets another: when
 * PostgreSQL comes back, so do they.
 * @param settings run-time parameters of the server for each connection
 */
export function openConnections(
  options: PostgresOptions,
  settings: Readonly<Record<string, string>>,
): Connections {
  const statementMs = options.statementTimeoutMs ?? 5_000;
  const parsers = new TypeOverrides();
  // Counters and milliseconds: far from where numbers lose digits.
  parsers.setTypeParser(types.builtins.INT8, Number);
  const assignments = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new Pool({
    ...clientConfig(options),
    ...(assignments.length > 0 && { options: assignments.join(' ') }),
    max: options.poolSize ?? 10,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: statementMs,
    // A server that does not answer at all cannot keep to the other timeout.
    query_timeout: statementMs + 1_000,
    types: parsers,
  });
  let closing: Promise<void> | undefined;
  pool.on('error', (error) => {
    // The pool has dropped it already.
    options.log?.warn({ err: toStoreError(error) }, 'an idle connection to PostgreSQL was lost');
  });

  return {
    async run<R extends QueryResultRow>({ name, text }: Statement, values: readonly Bindable[]) {
      if (closing !== undefined) throw new StoreUnavailableError('the store is closed');
      try {
        return (await pool.query<R>({ name, text, values: values.map(bound) })).rows;
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

/** PostgreSQL keeps no NUL in text. */
function bound(value: Bindable): Bindable {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return isList(value) ? value.map((item) => item.replaceAll('\0', '\uFFFD')) : value;
}

function isList(value: Bindable): value is readonly string[] {
  return Array.isArray(value);
}
