import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, ROOT, START_FLAGS } from '../support/server-process.js';
import { fieldsOf } from './json.js';
import type { Target } from './load/measure.js';
import { canPin, SERVER_CORE, sleep } from './machine.js';
import { Lane, requestBytes } from './load/lane.js';

/** A server that was started, and can be ended. */
export interface Server extends Target {
  end(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts node on the core of the servers, or on that of the load. */
export function startNode(
  args: readonly string[],
  options: {
    core: 'server' | 'load';
    node?: string;
    cwd?: string;
    env?: Record<string, string>;
    out: number | 'pipe';
  },
): ChildProcess {
  const { node = process.execPath } = options;
  const bound = canPin && options.core === 'server' ? ['taskset', '-c', SERVER_CORE] : [];
  const [command = node, ...rest] = [...bound, node, ...args];
  const child = spawn(command, rest, {
    cwd: options.cwd ?? ROOT,
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ['ignore', options.out, options.out === 'pipe' ? 'inherit' : options.out],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends a process at once. Resolves when it is gone. */
export function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.kill('SIGKILL');
  });
}

/** Starts a program of `programs/`. It says on its first line where it listens. */
export async function startProgram(
  name: string,
  args: readonly string[] = [],
  core: 'server' | 'load' = 'server',
): Promise<Server> {
  const file = join(ROOT, 'test/bench/programs', `${name}.ts`);
  const child = startNode(['--import', 'tsx', file, ...args], { core, out: 'pipe' });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', resolve);
    child.once('exit', (code) => {
      reject(new Error(`${name} ended with ${String(code)}`));
    });
  });
  const port = Number(fieldsOf(line).port);
  return { pid: child.pid ?? 0, port, end: () => kill(child) };
}

/**
 * The service as a user starts it, but for its address, its data, a rig, and a limit of requests that is not reached.
 */
export interface Product extends Server {
  /** Where its data and its log are. */
  readonly folder: string;
  /** From the start of the process to the first 200 of the health probe, in milliseconds. */
  readonly startMs: number;
  /** Ends it as an operator does, and keeps its folder. */
  drain(): Promise<void>;
}

/** What a product is started with. */
export interface ProductOptions {
  /** The base URL of the upstream, without a path. */
  readonly upstream: string;
  /** The folder with the build, `dist/`; absent: this checkout. */
  readonly app?: string;
  /** The executable of Node; absent: that of this process. */
  readonly node?: string | undefined;
  /** Its data and log go there; absent: to a folder that `end` removes. */
  readonly folder?: string;
  /** Flags of node itself. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The context window of its model, in tokens; absent: the default of the service. */
  readonly contextTokens?: number;
}

export async function startProduct({
  upstream,
  app = ROOT,
  node = process.execPath,
  folder,
  flags = [],
  env = {},
  contextTokens,
}: ProductOptions): Promise<Product> {
  const place = folder ?? makeFolder();
  writeFileSync(join(place, 'diptych.yaml'), configuration(upstream, contextTokens));
  const log = openSync(join(place, 'server.log'), 'a');
  const port = await freePort();
  const begun = performance.now();
  const child = startNode([...START_FLAGS, ...flags, join(app, 'dist/main.js')], {
    core: 'server',
    node,
    cwd: place,
    // The limiter works, and nobody reaches it: the whole load comes from one address.
    env: { PORT: String(port), RATE_LIMIT: '1000000000', STREAM_LIMIT: '0', ...env },
    out: log,
  });
  closeSync(log);
  await untilHealthy(child, port, place);
  const startMs = performance.now() - begun;
  return {
    ...{ pid: child.pid ?? 0, port, folder: place, startMs },
    async drain() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
    async end() {
      await kill(child);
      if (folder === undefined) rmSync(place, { recursive: true, force: true });
    },
  };
}

/** A new folder for data. On the disk, since commits are a part of what is measured. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'diptych-bench-'));
}

async function untilHealthy(child: ChildProcess, port: number, place: string): Promise<void> {
  const request = requestBytes('GET', '/api/health');
  for (;;) {
    if (child.exitCode !== null) {
      throw new Error(`the server ended: ${readFileSync(join(place, 'server.log'), 'utf8').slice(-2000)}`);
    }
    const lane = await Lane.open(port).catch(() => undefined);
    const status = await lane?.ask(request).catch(() => undefined);
    lane?.close();
    if (status?.status === 200) return;
    await sleep(2);
  }
}

function configuration(upstream: string, contextTokens: number | undefined): string {
  return `rigs:
  - id: scripted
    name: Scripted
    provider: openai-compatible
    model: scripted
    baseUrl: ${upstream}/v1
    apiKey: sk-scripted
${contextTokens === undefined ? '' : `    contextTokens: ${String(contextTokens)}\n`}`;
}
