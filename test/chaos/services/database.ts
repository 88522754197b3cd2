import { Client } from 'pg';
import type { ClockFile } from '../clock-file.js';
import { OwnPostgres, type OwnPostgresOptions } from './own-postgres.js';

/** The PostgreSQL database of a run. */
export interface Database {
  /** What it is, in words for the output. */
  readonly about: string;
  readonly port: number;
  /** Its URL by way of a port of this machine. */
  url(port: number): string;
  /** Ends all connections to it, from within the server. */
  cutConnections(): Promise<void>;
  /** Stops and starts the server; null where it is not the harness's own. */
  readonly server: { stop(isOrderly: boolean): Promise<void>; start(): Promise<void> } | null;
  /** The server's clock; null where it cannot be set. */
  readonly clock: ClockFile | null;
  close(): Promise<void>;
}

/** Where a database is made when no cluster of the harness's own can be. */
const SHARED = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * A database in a cluster of the harness's own, else one in the server that tests use. @throws when there is neither
 */
export async function openDatabase(log: string, options: OwnPostgresOptions = {}): Promise<Database> {
  const name = `diptych_chaos_${String(process.pid)}_${Date.now().toString(36)}`;
  const own = await OwnPostgres.start(log, options);
  if (own !== null) {
    await run(own.url, `CREATE DATABASE ${name}`);
    return databaseIn(own.url, name, {
      about: `PostgreSQL of its own on port ${String(own.port)}`,
      server: own,
      clock: own.clock,
      close: () => own.close(),
    });
  }
  await run(SHARED, `CREATE DATABASE ${name}`);
  return databaseIn(SHARED, name, {
    about: `a database of its own in the PostgreSQL at ${new URL(SHARED).host}: no initdb was found, so that no restart of the server is tried`,
    server: null,
    clock: null,
    close: () => run(SHARED, `DROP DATABASE ${name} WITH (FORCE)`),
  });
}

function databaseIn(
  serverUrl: string,
  name: string,
  rest: Pick<Database, 'about' | 'server' | 'clock' | 'close'>,
): Database {
  const { port } = new URL(serverUrl);
  return {
    ...rest,
    port: Number(port === '' ? '5432' : port),
    url(by) {
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      url.port = String(by);
      return url.href;
    },
    cutConnections: () =>
      run(
        serverUrl,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      ),
  };
}

async function run(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
