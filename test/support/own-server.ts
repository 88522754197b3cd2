import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** A server of a test's own, which it may stop and start again on the same port. */
export interface OwnServer {
  readonly port: number;
  /** Resolves once it takes connections. */
  start(): Promise<void>;
  /** Resolves once it is gone. */
  stop(): Promise<void>;
}

/** How one is started: its command, what it says when it takes connections, and the signal that ends it at once. */
export interface OwnServerCommand {
  readonly command: string;
  args(port: number): readonly string[];
  readonly options?: SpawnOptions;
  readonly ready: string;
  readonly signal: NodeJS.Signals;
}

/** Below those that the system gives to outgoing connections, so that nobody gets it while the server is stopped. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        resolve(true);
      });
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Names a server and its port; it does not run yet. */
export async function ownServer(how: OwnServerCommand): Promise<OwnServer> {
  const port = await quietPort();
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const kill = (): void => {
    child?.kill('SIGKILL');
  };
  return {
    port,
    start() {
      const started = spawn(how.command, how.args(port), {
        ...how.options,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      // Whatever ends this process leaves no server behind.
      process.once('exit', kill);
      return new Promise((resolve, reject) => {
        let said = '';
        const hear = (text: string): void => {
          said += text;
          if (said.includes(how.ready)) resolve();
        };
        started.stdout.setEncoding('utf8').on('data', hear);
        started.stderr.setEncoding('utf8').on('data', hear);
        started.once('error', reject);
        ended = new Promise((over) => {
          started.once('close', () => {
            process.off('exit', kill);
            over(undefined);
            reject(new Error(`${how.command} ended:\n${said}`));
          });
        });
      });
    },
    async stop() {
      if (child?.exitCode === null && child.signalCode === null) child.kill(how.signal);
      await ended;
    },
  };
}
