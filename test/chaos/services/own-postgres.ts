import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { ClockFile } from '../clock-file.js';
import { sleep } from '../world.js';
import { findProgram, ServiceProcess, steadyPort } from './service-process.js';

/** Where Debian and its kin keep the programs of each version. */
const VERSIONS = '/usr/lib/postgresql';
/** The source of the library that shifts the clock of PostgreSQL. */
const CLOCK_SOURCE = fileURLToPath(new URL('shifted-clock.c', import.meta.url));
const START_MS = 20_000;
/** By how much the clock is set back once, to see that it can be. */
const TRIED_SECONDS = 3_600;
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
};

/** How a cluster is started. */
export interface OwnPostgresOptions {
  /** True: with a clock that can be set, if there is a C compiler. */
  readonly withClock?: boolean;
  /**
   * True: commits are flushed to the disk. Off by default: what outlives the process cannot be lost by a stop of it, and
   * the chaos runs do not try the disk.
   */
  readonly isDurable?: boolean;
}

/** A PostgreSQL cluster of the harness's own, that can be stopped and started. */
export class OwnPostgres {
  #process: ServiceProcess | null = null;

  private constructor(
    private readonly command: string,
    private readonly directory: string,
    private readonly user: { uid: number; gid: number } | undefined,
    private readonly log: string,
    readonly port: number,
    /** Its clock; null: it cannot be set, because there is no C compiler, or that was not asked for. */
    readonly clock: ClockFile | null,
    private readonly isDurable: boolean,
  ) {}

  /** Null: the programs are not there, or there is no user whom they would run as. @throws when it does not start */
  static async start(
    log: string,
    { withClock = false, isDurable = false }: OwnPostgresOptions = {},
  ): Promise<OwnPostgres | null> {
    const folders = existsSync(VERSIONS)
      ? readdirSync(VERSIONS)
          .sort((a, b) => Number(b) - Number(a))
          .map((version) => join(VERSIONS, version, 'bin'))
      : [];
    const [initdb, command] = [findProgram('initdb', folders), findProgram('postgres', folders)];
    const user = ordinaryUser();
    if (initdb === undefined || command === undefined || user === null) return null;
    const directory = mkdtempSync(join(tmpdir(), 'diptych-chaos-pg-'));
    process.once('exit', () => {
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    });
    if (user !== undefined) chownSync(directory, user.uid, user.gid);
    const args = [
      '-D',
      directory,
      '-U',
      'postgres',
      '-A',
      'trust',
      '--no-sync',
      '--no-instructions',
      '-E',
      'UTF8',
    ];
    const made = spawnSync(initdb, args, { cwd: '/', env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...user });
    if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`);
    const clock =
      withClock && compileClock(clockLibrary(directory))
        ? new ClockFile(join(directory, 'chaos-clock'))
        : null;
    const port = await steadyPort();
    const postgres = new OwnPostgres(command, directory, user, log, port, clock, isDurable);
    await postgres.start();
    await postgres.#tryClock();
    return postgres;
  }

  /** The process id of the server; it starts one process for each connection. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${String(this.port)}/postgres`;
  }

  /** Resolves once it answers. */
  async start(): Promise<void> {
    const settings = Object.entries({ ...SETTINGS, fsync: this.isDurable ? 'on' : 'off' }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    );
    this.#process = ServiceProcess.start({
      command: this.command,
      args: ['-D', this.directory, '-p', String(this.port), ...settings],
      log: this.log,
      user: this.user,
      env: { LC_ALL: 'C', PATH: process.env.PATH ?? '', ...this.#clockEnv() },
      killSignal: 'SIGQUIT',
    });
    const until = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (this.#process.isOver || Date.now() > until)
        throw new Error('PostgreSQL did not start; see its log');
      await sleep(20);
    }
  }

  /** @param isOrderly false: as if its machine had failed, so that it recovers at the next start */
  async stop(isOrderly: boolean): Promise<void> {
    await this.#process?.stop(isOrderly ? 'SIGINT' : 'SIGQUIT');
  }

  async close(): Promise<void> {
    await this.stop(false);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** @throws when the clock cannot be set after all: a run would then show nothing */
  async #tryClock(): Promise<void> {
    const { clock } = this;
    if (clock === null) return;
    clock.set(-TRIED_SECONDS);
    const client = new Client({ connectionString: this.url });
    await client.connect();
    const { rows } = await client.query<{ at: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 AS at',
    );
    await client.end();
    clock.set(0);
    const behind = Date.now() / 1000 - (rows[0]?.at ?? 0);
    if (Math.abs(behind - TRIED_SECONDS) > 30)
      throw new Error(`the clock of PostgreSQL does not follow its file: ${String(behind)} s behind`);
  }

  /** What loads the library that shifts the clock. */
  #clockEnv(): Record<string, string> {
    if (this.clock === null) return {};
    return { LD_PRELOAD: clockLibrary(this.directory), CHAOS_CLOCK_FILE: this.clock.path };
  }

  async #answers(): Promise<boolean> {
    const client = new Client({ connectionString: this.url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

function clockLibrary(directory: string): string {
  return join(directory, 'chaos-clock.so');
}

/** False: there is no C compiler. @throws when it cannot compile the library */
function compileClock(library: string): boolean {
  const compiler = findProgram('cc');
  if (compiler === undefined) return false;
  const args = ['-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror', '-o', library, CLOCK_SOURCE];
  const made = spawnSync(compiler, args);
  if (made.status !== 0) throw new Error(`${CLOCK_SOURCE} does not compile: ${String(made.stderr)}`);
  return true;
}

/** Whom PostgreSQL, which refuses root, is to run as: undefined: this process's own user; null: nobody. */
function ordinaryUser(): { uid: number; gid: number } | undefined | null {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => spawnSync('id', [flag, 'postgres']);
  const [uid, gid] = [id('-u'), id('-g')];
  if (uid.status !== 0 || gid.status !== 0) return null;
  return { uid: Number(uid.stdout.toString()), gid: Number(gid.stdout.toString()) };
}
