import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWhere } from './describe-where.js';
import { ownServer, type OwnServer } from './own-server.js';
import { whoRuns } from './own-postgres.js';

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];
const binary = PLACES.find((place) => existsSync(place));
if (binary === undefined && process.env.CI === 'true')
  throw new Error('CI needs the Debian package pgbouncer');

/** Describes tests that need PgBouncer: without it they are skipped, but fail when `CI` is `true`. */
export const describeWithPooler = describeWhere(
  binary === undefined ? 'skipped: there is no pgbouncer, see the Debian package pgbouncer' : null,
);

/** A PgBouncer that a test may stop. */
export interface OwnPooler extends OwnServer {
  /** The address of a database of the server behind it. */
  urlOf(database: string): string;
  /** Stops it and removes its files. */
  remove(): Promise<void>;
}

/**
 * Makes a PgBouncer in front of a server; it does not run yet.
 * @param settings lines for the section `pgbouncer` of its file
 */
export async function ownPooler(serverUrl: string, settings: readonly string[]): Promise<OwnPooler> {
  if (binary === undefined) throw new Error('there is no pgbouncer');
  const directory = mkdtempSync(join(tmpdir(), 'diptych-pgbouncer-'));
  const file = join(directory, 'pgbouncer.ini');
  const user = whoRuns();
  const { hostname, port, username, password } = new URL(serverUrl);
  const target = [`host=${hostname}`, `port=${port === '' ? '5432' : port}`, `user=${username}`];
  const server = await ownServer({
    command: binary,
    args: (own) => {
      const lines = [
        ...[
          '[databases]',
          `* = ${[...target, ...(password === '' ? [] : [`password=${password}`])].join(' ')}`,
        ],
        ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${String(own)}`, 'unix_socket_dir ='],
        // Every client is the user of `* = …`.
        ...['auth_type = any', ...settings, ''],
      ];
      writeFileSync(file, lines.join('\n'));
      if (user !== undefined) for (const path of [directory, file]) chownSync(path, user.uid, user.gid);
      return [file];
    },
    options: { cwd: directory, ...user },
    ready: 'process up',
    signal: 'SIGTERM',
  });
  return {
    ...server,
    urlOf: (database) => `postgres://diptych@127.0.0.1:${String(server.port)}/${database}`,
    async remove() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
