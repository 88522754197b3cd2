import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** This checkout. */
export const ROOT = new URL('../../', import.meta.url).pathname;

/** The flags that the start command (`npm start`) gives Node. */
export const START_FLAGS: readonly string[] = startFlags();

function startFlags(): string[] {
  const [, flags] =
    /"start": "node (.*?) ?dist\/main\.js"/.exec(readFileSync(join(ROOT, 'package.json'), 'utf8')) ?? [];
  if (flags === undefined) throw new Error('package.json has another start command than is known here');
  return flags === '' ? [] : flags.split(' ');
}

/** How to start the service. */
export interface ServerOptions {
  /** A folder with `dist/`, `package.json` and `node_modules`. */
  readonly app: string;
  readonly cwd: string;
  readonly port: number;
  /** All of its environment beside PATH and PORT. */
  readonly env: Readonly<Record<string, string>>;
  /** Where stdout and stderr are appended. */
  readonly log: string;
  /** Flags of node itself. */
  readonly flags?: readonly string[];
  /** How many descriptors it may have (`ulimit -n`); absent: as many as this process. */
  readonly descriptors?: number | undefined;
}

/**
 * The real service as a child process on a known port. Its output goes to a file, so that a kill loses no line of it.
 */
export class ServerProcess {
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | string>;
  #outcome: number | string | undefined;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    // Whatever ends this process leaves no server behind.
    const killed = (): void => {
      child.kill('SIGKILL');
    };
    process.once('exit', killed);
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        process.off('exit', killed);
        this.#outcome = code ?? signal ?? 'unknown';
        resolve(this.#outcome);
      });
    });
  }

  static start({ app, cwd, port, env, log, flags = [], descriptors }: ServerOptions): ServerProcess {
    const out = openSync(log, 'a');
    const node = ['--enable-source-maps', ...START_FLAGS, ...flags, join(app, 'dist/main.js')];
    const [command, args] =
      descriptors === undefined
        ? [process.execPath, node]
        : ['/bin/sh', ['-c', 'ulimit -n "$0" && exec "$@"', String(descriptors), process.execPath, ...node]];
    const child = spawn(command, args, {
      cwd,
      env: { PATH: process.env.PATH, PORT: String(port), ...env },
      stdio: ['ignore', out, out],
    });
    closeSync(out);
    return new ServerProcess(child, `http://127.0.0.1:${String(port)}`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** How it ended; undefined while it runs. */
  get outcome(): number | string | undefined {
    return this.#outcome;
  }

  /** Returns the status of `GET /api/health`; undefined: no response, for so many milliseconds at most. */
  status(milliseconds = 2_000): Promise<number | undefined> {
    return statusOf(`${this.url}/api/health`, milliseconds);
  }

  /** Resolves with true once `GET /api/health` answers 200, with false when the process ends before. */
  async healthy(): Promise<boolean> {
    while (this.#outcome === undefined) {
      if ((await this.status()) === 200) return true;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return false;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it whatever it does. Resolves once it is gone. */
  async kill(): Promise<void> {
    if (this.#outcome === undefined) this.signal('SIGKILL');
    await this.ended;
  }
}

/** A loopback port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('there is no port');
  return address.port;
}

/** Copies a build, so that another build during a long run does not change what is run. Returns the folder. */
export function freezeBuild(app: string, into: string): string {
  mkdirSync(into, { recursive: true });
  cpSync(join(app, 'dist'), join(into, 'dist'), { recursive: true });
  cpSync(join(app, 'package.json'), join(into, 'package.json'));
  symlinkSync(join(app, 'node_modules'), join(into, 'node_modules'));
  return into;
}

/** Builds this checkout. @throws when it does not compile */
export async function buildCheckout(): Promise<void> {
  const child = spawn('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(`the build failed with ${String(code)}`);
}

function statusOf(url: string, timeout: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request(url, { agent: false, timeout }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => {
      resolve(undefined);
    });
    asked.end();
  });
}

/** A signal to this process ends it by way of its exit handlers, which end the servers that it started. */
export function exitOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
}
