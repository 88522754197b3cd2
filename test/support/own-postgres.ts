import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownServer, type OwnServer } from './own-server.js';

const BASE = '/usr/lib/postgresql';

/** The folder with the newest PostgreSQL of this machine; undefined: it has none. */
function findBinaries(): string | undefined {
  const versions = existsSync(BASE)
    ? readdirSync(BASE)
        .map(Number)
        .sort((a, b) => b - a)
    : [];
  return versions
    .map((version) => join(BASE, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/** PostgreSQL and its pooler do not run as root: then they run as PostgreSQL's own user. */
export function whoRuns(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** A cluster that a test may stop. */
export interface OwnPostgres extends OwnServer {
  readonly url: string;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

const binaries = findBinaries();
/** Why there can be no cluster here; null: there can. */
export const noPostgres = binaries === undefined ? `no PostgreSQL under ${BASE}` : null;

/** Makes an empty cluster; it does not run yet. */
export async function ownPostgres(): Promise<OwnPostgres> {
  if (binaries === undefined) throw new Error(noPostgres ?? '');
  const directory = mkdtempSync(join(tmpdir(), 'diptych-postgres-'));
  const user = whoRuns();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const options = { cwd: directory, ...user, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    { ...options, stdio: 'pipe' },
  );
  const server = await ownServer({
    command: join(binaries, 'postgres'),
    args: (port) => [
      ...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories=', '-c', 'shared_buffers=16MB'],
    ],
    options,
    ready: 'database system is ready to accept connections',
    // Ends all connections at once.
    signal: 'SIGINT',
  });
  return {
    ...server,
    url: `postgres://postgres@127.0.0.1:${String(server.port)}/postgres`,
    async remove() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
