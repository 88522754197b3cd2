import { join } from 'node:path';
import { openPostgresStore } from '../../../src/adapters/stores/postgres/store.js';
import { OwnPostgres } from '../../chaos/services/own-postgres.js';
import { fillPostgres, type Filling } from '../../support/filled-postgres.js';
import { runSql } from '../../support/run-sql.js';
import { makeFolder } from '../servers.js';

/** How many threads there are of each length. */
export const THREADS = 20;
/** In messages; a turn has two. */
export const SHORT = 100;
export const LONG = 10_000;

/** A filled database. */
export interface Filled {
  readonly url: string;
  readonly filling: Filling;
  /** Its size on the disk, as PostgreSQL reports it. */
  readonly size: string;
}

/** Two databases of one server: a small one and a large one. */
export interface Databases {
  readonly small: Filled;
  readonly large: Filled;
  close(): Promise<void>;
}

/** The id of one of the threads of a length in messages. */
export function threadId(length: number, n: number): string {
  return `ffff${length.toString(16).padStart(4, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

function fillingOf(sessions: number): Filling {
  const threads = [SHORT, LONG].flatMap((length) =>
    Array.from({ length: THREADS }, (_, n) => [threadId(length, n), length / 2] as const),
  );
  return { sessions, turns: 5, wallets: Math.ceil(sessions / 100), threads: Object.fromEntries(threads) };
}

/**
 * Opens the databases, and fills those that are missing.
 * @param server the URL of a server on which they stay for later runs; absent: one that is started and removed
 */
export async function openDatabases(
  options: { readonly small: number; readonly large: number; readonly server: string | undefined },
  say: (text: string) => void,
): Promise<Databases> {
  const own =
    options.server === undefined
      ? await OwnPostgres.start(join(makeFolder(), 'postgres.log'), { isDurable: true })
      : undefined;
  if (own === null) throw new Error('there are no programs of PostgreSQL, or no user to run them as');
  const server = options.server ?? own?.url ?? '';
  const open = async (sessions: number): Promise<Filled> => {
    const name = `diptych_size_${String(sessions)}`;
    const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
    const filling = fillingOf(sessions);
    if ((await runSql(server, 'SELECT FROM pg_database WHERE datname = $1', [name])).length === 0) {
      say(`filling a database with ${sessions.toLocaleString('en-US')} sessions …`);
      await runSql(server, `CREATE DATABASE ${name}`);
      await (await openPostgresStore({ url })).close();
      await fillPostgres((sql) => runSql(url, sql), filling);
    }
    const [row] = await runSql<{ size: string }>(url, 'SELECT pg_size_pretty(pg_database_size($1)) AS size', [
      name,
    ]);
    return { url, filling, size: row?.size ?? '' };
  };
  return {
    small: await open(options.small),
    large: await open(options.large),
    close: () => own?.close() ?? Promise.resolve(),
  };
}
