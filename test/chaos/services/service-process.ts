import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { Random } from '../random.js';

/** How to start a server of somebody else's. */
export interface ServiceOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Where stdout and stderr are appended. */
  readonly log: string;
  /** As whom; absent: as this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** What ends it whatever it does. */
  readonly killSignal: NodeJS.Signals;
}

/** A server of the harness's own, that ends with it. */
export class ServiceProcess {
  readonly ended: Promise<void>;
  #isOver = false;

  private constructor(
    private readonly child: ChildProcess,
    killSignal: NodeJS.Signals,
  ) {
    const killed = (): void => {
      // A frozen process would not receive it.
      child.kill('SIGCONT');
      child.kill(killSignal);
    };
    process.once('exit', killed);
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => {
        process.off('exit', killed);
        this.#isOver = true;
        resolve();
      });
    });
  }

  static start({ command, args, log, user, env, killSignal }: ServiceOptions): ServiceProcess {
    const out = openSync(log, 'a');
    const child = spawn(command, args, {
      stdio: ['ignore', out, out],
      cwd: '/',
      ...(user !== undefined && user),
      ...(env !== undefined && { env }),
    });
    closeSync(out);
    return new ServiceProcess(child, killSignal);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends a signal that ends it. Resolves once it is gone. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.#isOver) this.signal(signal);
    await this.ended;
  }
}

/** The path of a program, looked for on PATH and then in these folders; undefined: there is none. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const path = [process.env.PATH ?? '', ...folders].join(':');
  const found = spawnSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { env: { PATH: path } });
  const line = found.stdout.toString().trim();
  return found.status === 0 && line !== '' ? line : undefined;
}

/**
 * A loopback port that is free now, and that no outgoing connection is given while its server is down: it lies below
 * the range of those.
 */
export async function steadyPort(): Promise<number> {
  const random = new Random(process.pid, Date.now(), performance.now());
  for (;;) {
    const port = random.integer(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
